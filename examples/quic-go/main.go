// A flow of QUIC by quic-go, as a program that a study declares (docs/programs.md).
//
//	quic-go serve ADDRESS:PORT SECONDS BYTES    sends for a time, or an amount if SECONDS is empty
//	quic-go get ADDRESS:PORT SECONDS            receives, and prints how many bytes it got
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
)

const protocol = "flow"

// Windows that limit no flow: congestion control alone does.
const window = 64 << 20

var config = &quic.Config{
	MaxIdleTimeout:                 5 * time.Minute,
	InitialStreamReceiveWindow:     window,
	MaxStreamReceiveWindow:         window,
	InitialConnectionReceiveWindow: window,
	MaxConnectionReceiveWindow:     window,
	Tracer:                         qlog.DefaultConnectionTracer, // logs to the folder $QLOGDIR, if there is one
}

func main() {
	var err error
	switch {
	case len(os.Args) == 5 && os.Args[1] == "serve":
		err = serve(os.Args[2], os.Args[3], os.Args[4])
	case len(os.Args) == 4 && os.Args[1] == "get":
		err = get(os.Args[2], os.Args[3])
	default:
		err = fmt.Errorf("usage: quic-go serve ADDRESS:PORT SECONDS BYTES | get ADDRESS:PORT SECONDS")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// serve sends to one client, and goes on until it is ended.
func serve(address, seconds, amount string) error {
	certificate, err := selfSigned()
	if err != nil {
		return err
	}
	secrets, err := keyLog()
	if err != nil {
		return err
	}
	listener, err := quic.ListenAddr(address, &tls.Config{
		Certificates: []tls.Certificate{certificate}, NextProtos: []string{protocol}, KeyLogWriter: secrets,
	}, config)
	if err != nil {
		return err
	}
	connection, err := listener.Accept(context.Background())
	if err != nil {
		return err
	}
	stream, err := connection.AcceptStream(context.Background())
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(stream, make([]byte, 1)); err != nil {
		return err
	}
	if amount != "" {
		err = sendAmount(stream, amount)
	} else {
		err = sendFor(stream, seconds)
	}
	if err != nil {
		return err
	}
	<-connection.Context().Done() // the client closes it
	select {}
}

func sendAmount(stream *quic.Stream, amount string) error {
	left, err := strconv.ParseInt(amount, 10, 64)
	if err != nil {
		return err
	}
	if _, err := io.CopyN(stream, zeros{}, left); err != nil {
		return err
	}
	return stream.Close()
}

// sendFor sends for a time; what is not sent by then is not sent any more.
func sendFor(stream *quic.Stream, seconds string) error {
	length, err := time.ParseDuration(seconds + "s")
	if err != nil {
		return err
	}
	if err := stream.SetWriteDeadline(time.Now().Add(length)); err != nil {
		return err
	}
	io.Copy(stream, zeros{}) // ends at the deadline
	stream.CancelWrite(0)
	return nil
}

// How much longer than the server sends a client waits for the end, which a dead path never brings.
const patience = 3 * time.Second

// get receives until the stream ends, or for some seconds.
func get(address, seconds string) error {
	secrets, err := keyLog()
	if err != nil {
		return err
	}
	connection, err := quic.DialAddr(context.Background(), address, &tls.Config{
		InsecureSkipVerify: true, NextProtos: []string{protocol}, KeyLogWriter: secrets,
	}, config)
	if err != nil {
		return err
	}
	stream, err := connection.OpenStreamSync(context.Background())
	if err != nil {
		return err
	}
	if _, err := stream.Write([]byte{0}); err != nil {
		return err
	}
	if seconds != "" {
		length, err := time.ParseDuration(seconds + "s")
		if err != nil {
			return err
		}
		if err := stream.SetReadDeadline(time.Now().Add(length + patience)); err != nil {
			return err
		}
	}
	received, err := io.Copy(io.Discard, stream)
	fmt.Println("bytes", received)
	if _, cancelled := err.(*quic.StreamError); err != nil && !cancelled && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return connection.CloseWithError(0, "")
}

// keyLog opens the file $SSLKEYLOGFILE for TLS secrets; without that variable there is none.
func keyLog() (io.Writer, error) {
	path := os.Getenv("SSLKEYLOGFILE")
	if path == "" {
		return nil, nil
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

type zeros struct{}

func (zeros) Read(buffer []byte) (int, error) {
	clear(buffer)
	return len(buffer), nil
}

func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(1, 0, 0)}
	content, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{content}, PrivateKey: key}, err
}
