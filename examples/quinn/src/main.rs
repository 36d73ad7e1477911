//! A QUIC flow by quinn, as a program that a study declares (docs/programs.md).
//!
//!     quinn serve ADDRESS:PORT SECONDS BYTES CCA    sends for SECONDS, or BYTES if SECONDS is empty
//!     quinn get ADDRESS:PORT SECONDS                receives, and prints the number of bytes received
//!
//! If $BURSTS is BYTES/SECONDS, such as 250000/2, the server sends that many bytes each time that many seconds have passed.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use quinn::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{Connection, Endpoint, SendStream, TransportConfig};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, KeyLogFile, SignatureScheme};
use tokio::time::{sleep_until, timeout, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

const PROTOCOL: &[u8] = b"flow";
/// Flow-control windows so large that only congestion control limits a flow.
const WINDOW: u32 = 64 << 20;
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
        _ => Err("usage: quinn serve ADDRESS:PORT SECONDS BYTES CCA | get ADDRESS:PORT SECONDS".into()),
    }
}

fn transport(cca: &str) -> Outcome<Arc<TransportConfig>> {
    let controller: Arc<dyn ControllerFactory + Send + Sync> = match cca {
        "cubic" => Arc::new(CubicConfig::default()),
        "newreno" => Arc::new(NewRenoConfig::default()),
        "bbr" => Arc::new(BbrConfig::default()),
        _ => return Err(format!("there is no CCA {cca}").into()),
    };
    let mut config = TransportConfig::default();
    config
        .max_idle_timeout(Some(Duration::from_secs(300).try_into()?))
        .stream_receive_window(WINDOW.into())
        .receive_window(WINDOW.into())
        .send_window(WINDOW.into())
        .congestion_controller_factory(controller);
    Ok(Arc::new(config))
}

/// Sends to one client, then waits until it is terminated.
async fn serve(address: &str, seconds: &str, amount: &str, cca: &str) -> Outcome<()> {
    let own = rcgen::generate_simple_self_signed(vec!["flow".into()])?;
    let key = PrivateKeyDer::Pkcs8(own.key_pair.serialize_der().into());
    let mut tls = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(vec![own.cert.der().clone()], key)?;
    tls.alpn_protocols = vec![PROTOCOL.into()];
    tls.key_log = Arc::new(KeyLogFile::new());
    let mut config = quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    config.transport_config(transport(cca)?);
    let endpoint = Endpoint::server(config, address.parse()?)?;
    let connection = endpoint.accept().await.ok_or("no client")?.await?;
    let (mut stream, mut asked) = connection.accept_bi().await?;
    asked.read_exact(&mut [0]).await?;
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
    connection.closed().await;
    std::future::pending().await
}

async fn send(stream: &mut SendStream, size: usize) -> Outcome<usize> {
    stream.write_chunk(Bytes::from_static(&BLOCK[..size])).await?;
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
    let mut tls = rustls::ClientConfig::builder()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyServer))
        .with_no_client_auth();
    tls.alpn_protocols = vec![PROTOCOL.into()];
    tls.key_log = Arc::new(KeyLogFile::new());
    let mut config = quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(transport("cubic")?);
    let mut endpoint = Endpoint::client(if server.is_ipv4() { "0.0.0.0:0".parse()? } else { "[::]:0".parse()? })?;
    endpoint.set_default_client_config(config);
    let connection = endpoint.connect(server, "flow")?.await?;
    let mut received = 0;
    match seconds {
        "" => receive(&connection, &mut received).await?,
        _ => {
            let limit = Duration::from_secs_f64(seconds.parse()?) + PATIENCE;
            timeout(limit, receive(&connection, &mut received)).await.unwrap_or(Ok(()))?
        }
    }
    println!("bytes {received}");
    connection.close(0u32.into(), b"");
    // Wait, so that the last packet is sent; on a dead path, it is never acknowledged.
    let _ = timeout(PATIENCE, endpoint.wait_idle()).await;
    Ok(())
}

async fn receive(connection: &Connection, received: &mut usize) -> Outcome<()> {
    let (mut asking, mut stream) = connection.open_bi().await?;
    asking.write_all(&[0]).await?;
    loop {
        match stream.read_chunk(usize::MAX, true).await {
            Ok(Some(chunk)) => *received += chunk.bytes.len(),
            Ok(None) | Err(quinn::ReadError::Reset(_)) => return Ok(()),
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
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
