//! A QUIC flow by quiche, as a program that a study declares (docs/programs.md).
//!
//!     quiche serve ADDRESS:PORT SECONDS BYTES CCA [LOGS]    sends for SECONDS, or BYTES if SECONDS is empty
//!     quiche get ADDRESS:PORT SECONDS                       receives, and prints the number of bytes received
//!
//! If $BURSTS is BYTES/SECONDS, such as 250000/2, the server sends that many bytes each time that many seconds have passed.
//! Each side appends its TLS keys to the file $SSLKEYLOGFILE, if that variable is set.

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use boring::asn1::Asn1Time;
use boring::bn::BigNum;
use boring::ec::{EcGroup, EcKey};
use boring::hash::MessageDigest;
use boring::nid::Nid;
use boring::pkey::PKey;
use boring::ssl::{SslContextBuilder, SslMethod};
use boring::x509::{X509Name, X509};
use qlog::events::quic::PacketLost;
use qlog::events::EventData;
use quiche::{Config, Connection, ConnectionId, Header, QlogLevel, RecvInfo, Shutdown, MAX_CONN_ID_LEN, PROTOCOL_VERSION};

type Outcome<T> = Result<T, Box<dyn Error>>;

const PROTOCOL: &[u8] = b"flow";
/// Flow-control windows so large that only congestion control limits a flow.
const WINDOW: u64 = 64 << 20;
/// How long a client waits for the end after the server stops sending; on a dead path, the end never arrives.
const PATIENCE: Duration = Duration::from_secs(3);
/// Largest UDP payload, in bytes, as in quiche's own programs.
const DATAGRAM: usize = 1350;
/// A size in bytes with room for a packet's header, but not for a packet.
const HEADER_ONLY: usize = 30;
/// Largest number of bytes handed to the connection but not yet sent.
const AHEAD: usize = 1 << 18;
/// End of the name of a CCA that treats each short pause as idle time, as versions before quiche's pull request 2370 did.
const UNFIXED: &str = "-without-idle-fix";
/// The one stream, which the client opens.
const STREAM: u64 = 0;
static BLOCK: [u8; 65_536] = [0; 65_536];

fn main() -> Outcome<()> {
    // On some processors BoringSSL adds RDRAND to its random numbers, which no seed determines.
    std::env::set_var("OPENSSL_ia32cap", "~0x4000000000000000");
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["serve", address, seconds, amount, cca] => serve(address, seconds, amount, cca, None),
        ["serve", address, seconds, amount, cca, logs] => serve(address, seconds, amount, cca, Some(logs)),
        ["get", address, seconds] => get(address, seconds),
        _ => Err("usage: quiche serve ADDRESS:PORT SECONDS BYTES CCA [LOGS] | get ADDRESS:PORT SECONDS".into()),
    }
}

/// Sends to one client, then waits until it is terminated.
fn serve(address: &str, seconds: &str, amount: &str, cca: &str, logs: Option<&str>) -> Outcome<()> {
    let mut config = configured(own_certificate()?)?;
    let algorithm = cca.strip_suffix(UNFIXED).unwrap_or(cca);
    config.set_cc_algorithm_name(algorithm).map_err(|_| format!("there is no CCA {cca}"))?;
    config.set_enable_cubic_idle_restart_fix(algorithm == cca);
    let mut path = Path::accept(UdpSocket::bind(address)?, &mut config, logs)?;
    path.exchange(None, |path| Ok(path.connection.stream_recv(STREAM, &mut [0]).is_ok()))?;
    if amount.is_empty() {
        let end = Instant::now() + Duration::from_secs_f64(seconds.parse()?);
        let (size, every) = bursts()?;
        let (mut left, mut next) = (0usize, Instant::now());
        while Instant::now() < end && !path.has_ended() {
            left = left.saturating_add(size);
            next += every;
            path.exchange(Some(next.min(end)), |path| loop {
                match path.hand_over(left.min(BLOCK.len()), false)? {
                    0 => return Ok(false),
                    sent => left -= sent,
                }
            })?;
        }
        // Data that were not sent by then are discarded.
        path.connection.stream_shutdown(STREAM, Shutdown::Write, 0)?;
    } else {
        let mut left: usize = amount.parse()?;
        path.exchange(None, |path| loop {
            let size = left.min(BLOCK.len());
            match path.hand_over(size, size == left)? {
                0 => return Ok(left == 0),
                sent => left -= sent,
            }
        })?;
    }
    let log = path.log.clone();
    path.exchange(None, |_| {
        log.as_ref().map_or(Ok(()), |log| log.clone().flush())?;
        Ok(false)
    })?;
    drop(path);
    log.map_or(Ok(()), |mut log| log.flush())?;
    loop {
        std::thread::park();
    }
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
fn get(address: &str, seconds: &str) -> Outcome<()> {
    let server: SocketAddr = address.parse()?;
    let mut path = Path::connect(server, &mut configured(SslContextBuilder::new(SslMethod::tls())?)?)?;
    path.exchange(None, |path| Ok(path.connection.is_established()))?;
    path.connection.stream_send(STREAM, &[0], false)?;
    let limit = match seconds {
        "" => None,
        _ => Some(Instant::now() + Duration::from_secs_f64(seconds.parse()?) + PATIENCE),
    };
    let (mut received, mut buffer) = (0, vec![0; BLOCK.len()]);
    path.exchange(limit, |path| loop {
        match path.connection.stream_recv(STREAM, &mut buffer) {
            Ok((size, last)) => {
                received += size;
                if last {
                    return Ok(true);
                }
            }
            Err(quiche::Error::StreamReset(_)) => return Ok(true),
            Err(quiche::Error::Done) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    })?;
    println!("bytes {received}");
    path.connection.close(true, 0, b"")?;
    path.send()?;
    Ok(())
}

/// A connection and its socket.
struct Path {
    connection: Connection,
    socket: UdpSocket,
    local: SocketAddr,
    peer: SocketAddr,
    log: Option<Log>,
    lost: usize,
    arriving: [u8; 65_535],
    leaving: [u8; DATAGRAM],
    /// The size of a datagram that pacing delays, and the time when it is due.
    held: Option<(usize, Instant)>,
    /// The bytes that the congestion window allows, and those that were handed over and not sent.
    room: usize,
    ahead: usize,
}

impl Path {
    /// Returns the connection of the first client.
    fn accept(socket: UdpSocket, config: &mut Config, logs: Option<&str>) -> Outcome<Path> {
        let mut first = vec![0; 65_535];
        let (size, peer) = socket.recv_from(&mut first)?;
        let client = Header::from_slice(&mut first[..size], MAX_CONN_ID_LEN)?;
        let connection = quiche::accept(&new_id()?, None, socket.local_addr()?, peer, config)?;
        let mut path = Path::new(connection, socket, peer)?;
        if let Some(folder) = logs {
            let log = Log(Arc::new(Mutex::new(BufWriter::new(File::create(format!("{folder}/{:?}.sqlog", client.dcid))?))));
            path.connection.set_qlog_with_level(Box::new(log.clone()), "flow".into(), "".into(), QlogLevel::Base);
            path.log = Some(log);
        }
        path.connection.recv(&mut first[..size], RecvInfo { from: peer, to: path.local })?;
        Ok(path)
    }

    fn connect(peer: SocketAddr, config: &mut Config) -> Outcome<Path> {
        let socket = UdpSocket::bind(if peer.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
        let connection = quiche::connect(Some("flow"), &new_id()?, socket.local_addr()?, peer, config)?;
        Path::new(connection, socket, peer)
    }

    fn new(mut connection: Connection, socket: UdpSocket, peer: SocketAddr) -> Outcome<Path> {
        socket.set_nonblocking(true)?;
        if let Some(file) = std::env::var_os("SSLKEYLOGFILE") {
            connection.set_keylog(Box::new(OpenOptions::new().create(true).append(true).open(file)?));
        }
        let local = socket.local_addr()?;
        let (arriving, leaving) = ([0; 65_535], [0; DATAGRAM]);
        Ok(Path { connection, socket, local, peer, log: None, lost: 0, arriving, leaving, held: None, room: usize::MAX, ahead: 0 })
    }

    /// Exchanges packets until `step`, which uses the connection's stream, returns true, a given time is reached, or the connection is closed.
    fn exchange(&mut self, until: Option<Instant>, mut step: impl FnMut(&mut Path) -> Outcome<bool>) -> Outcome<()> {
        loop {
            self.receive()?;
            self.log_losses();
            loop {
                let ended = step(self)? || until.is_some_and(|end| end <= Instant::now());
                let sent = self.send()?;
                if ended || self.has_ended() {
                    return Ok(());
                }
                // What was sent may have made room for more.
                if !sent || self.held.is_some() {
                    break;
                }
            }
            let timer = self.connection.timeout_instant();
            wait(&self.socket, libc::POLLIN, [timer, until, self.held.map(|(_, due)| due)].into_iter().flatten().min())?;
            if timer.is_some_and(|due| due <= Instant::now()) {
                self.connection.on_timeout();
                self.log_losses();
                self.room = usize::MAX;
            }
        }
    }

    fn has_ended(&self) -> bool {
        self.connection.is_closed() || self.connection.is_draining()
    }

    fn receive(&mut self) -> Outcome<()> {
        loop {
            match self.socket.recv_from(&mut self.arriving) {
                Ok((size, from)) if from == self.peer => {
                    match self.connection.recv(&mut self.arriving[..size], RecvInfo { from, to: self.local }) {
                        Ok(_) | Err(quiche::Error::Done) => {}
                        Err(error) => return Err(error.into()),
                    }
                    self.room = self.connection.stream_capacity(STREAM).unwrap_or(usize::MAX);
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Hands the connection zeros, and returns how many it took.
    fn hand_over(&mut self, size: usize, last: bool) -> Outcome<usize> {
        if size == 0 || self.ahead >= AHEAD {
            return Ok(0);
        }
        match self.connection.stream_send(STREAM, &BLOCK[..size], last) {
            Ok(taken) => {
                self.ahead += taken;
                Ok(taken)
            }
            Err(quiche::Error::Done) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends all packets that may be sent now, and returns whether there were any.
    ///
    /// Room for less than a full datagram is not used: quiche would fill it, and datagrams would become smaller with every remainder.
    fn send(&mut self) -> Outcome<bool> {
        let mut any = false;
        loop {
            let (size, due) = match self.held.take() {
                Some(held) => held,
                None if self.room < DATAGRAM => {
                    // This tells the connection that its window is the limit, so that the window can grow.
                    let _ = self.connection.send(&mut self.leaving[..HEADER_ONLY]);
                    return Ok(any);
                }
                None => match self.connection.send(&mut self.leaving) {
                    Ok((size, info)) => (size, info.at),
                    Err(quiche::Error::Done) => return Ok(any),
                    Err(error) => return Err(error.into()),
                },
            };
            if due > Instant::now() {
                self.held = Some((size, due));
                return Ok(any);
            }
            while let Err(error) = self.socket.send_to(&self.leaving[..size], self.peer) {
                if error.kind() != ErrorKind::WouldBlock {
                    return Err(error.into());
                }
                wait(&self.socket, libc::POLLOUT, None)?;
            }
            any = true;
            self.room -= size.min(self.room);
            self.ahead -= size.min(self.ahead);
        }
    }

    /// Logs lost packets, which quiche itself only counts.
    fn log_losses(&mut self) {
        if self.log.is_some() {
            let lost = self.connection.stats().lost;
            if let Some(log) = self.connection.qlog_streamer() {
                for _ in self.lost..lost {
                    let _ = log.add_event_data_now(EventData::QuicPacketLost(PacketLost::default()));
                }
            }
            self.lost = lost;
        }
    }
}

/// A file that the connection writes to, and that is complete once it is flushed.
#[derive(Clone)]
struct Log(Arc<Mutex<BufWriter<File>>>);

impl Write for Log {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(content)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap().flush()
    }
}

/// Waits for a socket until a given time, to the nanosecond, which pacing needs.
fn wait(socket: &UdpSocket, event: libc::c_short, until: Option<Instant>) -> io::Result<()> {
    let mut asked = libc::pollfd { fd: socket.as_raw_fd(), events: event, revents: 0 };
    let left = until.map(|end| end.saturating_duration_since(Instant::now()));
    let left = left.map(|left| libc::timespec { tv_sec: left.as_secs() as libc::time_t, tv_nsec: left.subsec_nanos().into() });
    let left = left.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: both pointers are to values that outlive the call.
    match unsafe { libc::ppoll(&mut asked, 1, left, std::ptr::null()) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn configured(tls: SslContextBuilder) -> Outcome<Config> {
    let mut config = Config::with_boring_ssl_ctx_builder(PROTOCOL_VERSION, tls)?;
    config.set_application_protos(&[PROTOCOL])?;
    config.set_max_idle_timeout(300_000);
    config.set_max_send_udp_payload_size(DATAGRAM);
    config.set_initial_max_data(WINDOW);
    config.set_initial_max_stream_data_bidi_local(WINDOW);
    config.set_initial_max_stream_data_bidi_remote(WINDOW);
    config.set_max_connection_window(WINDOW);
    config.set_max_stream_window(WINDOW);
    config.set_initial_max_streams_bidi(1);
    if std::env::var_os("SSLKEYLOGFILE").is_some() {
        config.log_keys();
    }
    Ok(config)
}

fn new_id() -> Outcome<ConnectionId<'static>> {
    let mut id = vec![0; MAX_CONN_ID_LEN];
    boring::rand::rand_bytes(&mut id)?;
    Ok(id.into())
}

/// The certificate is self-signed: the server's identity doesn't matter here, and quiche's clients don't verify it by default.
fn own_certificate() -> Outcome<SslContextBuilder> {
    let key = PKey::from_ec_key(EcKey::generate(&*EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?)?)?;
    let mut name = X509Name::builder()?;
    name.append_entry_by_text("CN", "flow")?;
    let name = name.build();
    let mut own = X509::builder()?;
    own.set_version(2)?;
    own.set_serial_number(&*BigNum::from_u32(1)?.to_asn1_integer()?)?;
    own.set_subject_name(&name)?;
    own.set_issuer_name(&name)?;
    own.set_pubkey(&key)?;
    own.set_not_before(&*Asn1Time::days_from_now(0)?)?;
    own.set_not_after(&*Asn1Time::days_from_now(365)?)?;
    own.sign(&key, MessageDigest::sha256())?;
    let mut tls = SslContextBuilder::new(SslMethod::tls())?;
    tls.set_certificate(&own.build())?;
    tls.set_private_key(&key)?;
    Ok(tls)
}
