// A QUIC flow by quic-go, as a program that a study declares (docs/programs.md).
//
//	quic-go serve ADDRESS:PORT SECONDS BYTES    sends for SECONDS, or BYTES if SECONDS is empty
//	quic-go get ADDRESS:PORT SECONDS            receives, and prints the number of bytes received
//
// If $BURSTS is BYTES/SECONDS, such as 250000/2, the server sends that many bytes each time that many seconds have passed.
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
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
)

const protocol = "flow"

// Flow-control windows so large that only congestion control limits a flow.
const window = 64 << 20

var config = &quic.Config{
	MaxIdleTimeout:                 5 * time.Minute,
	InitialStreamReceiveWindow:     window,
	MaxStreamReceiveWindow:         window,
	InitialConnectionReceiveWindow: window,
	MaxConnectionReceiveWindow:     window,
	Tracer:                         qlog.DefaultConnectionTracer, // logs to the folder $QLOGDIR, if that variable is set
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

// serve sends to one client, then waits until it is terminated.
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

// sendFor sends for some seconds; data that were not sent by then are discarded.
func sendFor(stream *quic.Stream, seconds string) error {
	length, err := time.ParseDuration(seconds + "s")
	if err != nil {
		return err
	}
	size, every, err := bursts()
	if err != nil {
		return err
	}
	next, end := time.Now(), time.Now().Add(length)
	if err := stream.SetWriteDeadline(end); err != nil {
		return err
	}
	for next.Before(end) {
		if _, err := io.CopyN(stream, zeros{}, size); err != nil {
			break // usually because of the deadline
		}
		next = next.Add(every)
		time.Sleep(min(time.Until(next), time.Until(end)))
	}
	stream.CancelWrite(0)
	return nil
}

// bursts returns the size of a burst and the time from one burst to the next; by default one burst has no end.
func bursts() (int64, time.Duration, error) {
	text := os.Getenv("BURSTS")
	if text == "" {
		return math.MaxInt64, time.Hour, nil
	}
	size, seconds, _ := strings.Cut(text, "/")
	amount, err := strconv.ParseInt(size, 10, 64)
	if err != nil {
		return 0, 0, err
	}
	every, err := time.ParseDuration(seconds + "s")
	return amount, every, err
}

// How long a client waits for the end after the server stops sending; on a dead path, the end never arrives.
const patience = 3 * time.Second

// get receives until the stream ends or the time is over.
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

// keyLog opens the file $SSLKEYLOGFILE for TLS secrets, or returns nil if that variable is not set.
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
