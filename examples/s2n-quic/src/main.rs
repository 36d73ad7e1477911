//! A QUIC flow by s2n-quic, as a program that a study declares (docs/programs.md).
//!
//!     s2n-quic serve ADDRESS:PORT SECONDS BYTES CCA    sends for SECONDS, or BYTES if SECONDS is empty
//!     s2n-quic get ADDRESS:PORT SECONDS                receives, and prints the number of bytes received
//!
//! If $BURSTS is BYTES/SECONDS, such as 250000/2, the server sends that many bytes each time that many seconds have passed.
// For code that doesn't use s2n-quic's own builders, which offer no client that trusts any server.
#![allow(deprecated)]

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use s2n_quic::client::Connect;
use s2n_quic::provider::congestion_controller::{Bbr, Cubic};
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::tls::rustls::rustls as tls;
use s2n_quic::provider::tls::rustls::{Client as ClientTls, Server as ServerTls};
use s2n_quic::stream::SendStream;
use s2n_quic::{Client, Connection, Server};
use tls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tls::{DigitallySignedStruct, SignatureScheme};
use tokio::time::{sleep_until, timeout, Instant};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const PROTOCOL: &[u8] = b"flow";
/// Flow-control windows so large that only congestion control limits a flow.
const WINDOW: u64 = 64 << 20;
/// How long a client waits for the end after the server stops sending; on a dead path, the end never arrives.
const PATIENCE: Duration = Duration::from_secs(3);
static BLOCK: [u8; 65_536] = [0; 65_536];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["serve", address, seconds, amount, cca] => serve(address, seconds, amount, cca).await,
        ["get", address, seconds] => get(address, seconds).await,
        _ => Err("usage: s2n-quic serve ADDRESS:PORT SECONDS BYTES CCA | get ADDRESS:PORT SECONDS".into()),
    }
}

fn limits() -> Outcome<Limits> {
    Ok(Limits::new()
        .with_max_idle_timeout(Duration::from_secs(300))?
        .with_data_window(WINDOW)?
        .with_bidirectional_local_data_window(WINDOW)?
        .with_bidirectional_remote_data_window(WINDOW)?
        .with_max_send_buffer_size(WINDOW as u32)?)
}

/// Sends to one client, then waits until it is terminated.
async fn serve(address: &str, seconds: &str, amount: &str, cca: &str) -> Outcome<()> {
    let own = rcgen::generate_simple_self_signed(vec!["flow".into()])?;
    let key = PrivateKeyDer::Pkcs8(own.key_pair.serialize_der().into());
    let mut config = tls::ServerConfig::builder_with_protocol_versions(&[&tls::version::TLS13])
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)?;
    config.alpn_protocols = vec![PROTOCOL.into()];
    let builder = Server::builder().with_tls(ServerTls::new(config))?.with_io(address.parse::<SocketAddr>()?)?.with_limits(limits()?)?;
    let mut server = match cca {
        "cubic" => builder.with_congestion_controller(Cubic::default())?.start()?,
        "bbr" => builder.with_congestion_controller(Bbr::default())?.start()?,
        _ => return Err(format!("there is no CCA {cca}").into()),
    };
    let mut connection = server.accept().await.ok_or("no client")?;
    let stream = connection.accept_bidirectional_stream().await?.ok_or("no stream")?;
    let (mut asked, mut stream) = stream.split();
    asked.receive().await?;
    if amount.is_empty() {
        let end = Instant::now() + Duration::from_secs_f64(seconds.parse()?);
        let (size, every) = bursts()?;
        let (mut left, mut next) = (0usize, Instant::now());
        while Instant::now() < end {
            left = left.saturating_add(size);
            // Data that were not sent by then are discarded.
            while left > 0 && Instant::now() < end {
                match timeout(end - Instant::now(), send(&mut stream, left.min(BLOCK.len()))).await {
                    Ok(sent) => left -= sent?,
                    Err(_) => break,
                }
            }
            next += every;
            sleep_until(next.min(end)).await;
        }
        stream.reset(0u32.into())?;
    } else {
        let mut left: usize = amount.parse()?;
        while left > 0 {
            left -= send(&mut stream, left.min(BLOCK.len())).await?;
        }
        stream.finish()?;
    }
    std::future::pending().await
}

async fn send(stream: &mut SendStream, size: usize) -> Outcome<usize> {
    stream.send(Bytes::from_static(&BLOCK[..size])).await?;
    Ok(size)
}

/// Returns the size of a burst and the time from one burst to the next; by default one burst has no end.
fn bursts() -> Outcome<(usize, Duration)> {
    match std::env::var("BURSTS") {
        Ok(text) => {
            let (size, seconds) = text.split_once('/').ok_or("BURSTS is not BYTES/SECONDS")?;
            Ok((size.parse()?, Duration::from_secs_f64(seconds.parse()?)))
        }
        Err(_) => Ok((usize::MAX, Duration::from_secs(3600))),
    }
}

/// Receives until the stream ends or the time is over.
async fn get(address: &str, seconds: &str) -> Outcome<()> {
    let server: SocketAddr = address.parse()?;
    let mut config = tls::ClientConfig::builder_with_protocol_versions(&[&tls::version::TLS13])
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyServer))
        .with_no_client_auth();
    config.alpn_protocols = vec![PROTOCOL.into()];
    let own: SocketAddr = if server.is_ipv4() { "0.0.0.0:0".parse()? } else { "[::]:0".parse()? };
    let client = Client::builder().with_tls(ClientTls::new(config))?.with_io(own)?.with_limits(limits()?)?.start()?;
    let mut connection = client.connect(Connect::new(server).with_server_name("flow")).await?;
    let mut received = 0;
    match seconds {
        "" => receive(&mut connection, &mut received).await?,
        _ => {
            let limit = Duration::from_secs_f64(seconds.parse()?) + PATIENCE;
            timeout(limit, receive(&mut connection, &mut received)).await.unwrap_or(Ok(()))?
        }
    }
    println!("bytes {received}");
    connection.close(0u32.into());
    Ok(())
}

async fn receive(connection: &mut Connection, received: &mut usize) -> Outcome<()> {
    let mut stream = connection.open_bidirectional_stream().await?;
    stream.send(Bytes::from_static(&[0])).await?;
    loop {
        match stream.receive().await {
            Ok(Some(chunk)) => *received += chunk.len(),
            Ok(None) | Err(s2n_quic::stream::Error::StreamReset { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// The certificate is self-signed: the server's identity doesn't matter here.
#[derive(Debug)]
struct AnyServer;

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer,
        _: &[CertificateDer],
        _: &ServerName,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, tls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, tls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, tls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        tls::crypto::aws_lc_rs::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
