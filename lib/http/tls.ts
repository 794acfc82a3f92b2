import {isIP, type Socket} from 'node:net';
import {type ConnectionOptions, checkServerIdentity, connect, type TLSSocket} from 'node:tls';

export interface TlsFacts {
  /** As TLSv1.3. Null without TLS. */
  readonly tlsVersion: string | null;
  /** Name of IANA's registry, as TLS_AES_128_GCM_SHA256. */
  readonly tlsCipher: string | null;
  /** Null: the certificate is good, or there is none. Else what is wrong with it, on a host where that is let pass. */
  readonly tlsProblem: string | null;
}

/** A connection without TLS. */
export const noTls: TlsFacts = {tlsVersion: null, tlsCipher: null, tlsProblem: null};

/** Sessions to resume, for at most this many hosts (1 to 4 KB each). */
const maxSessions = 1_000;

export interface TlsOptions {
  /** Certificate authorities in place of Node's, in PEM. For tests, and networks with an authority of their own. */
  readonly ca?: string;
  /** Protocols to offer, the best first. */
  readonly protocols?: readonly string[];
  /** Hosts whose certificate may be wrong. */
  readonly unverified?: ReadonlySet<string>;
}

/** Opens TLS connections, verified against Node's authorities and the host's name; resumes sessions. */
export class TlsDialer {
  readonly #ca: string | undefined;
  readonly #protocols: string[];
  readonly #unverified: ReadonlySet<string>;
  readonly #sessions = new Map<string, Buffer>();

  constructor(options: TlsOptions) {
    this.#ca = options.ca;
    this.#protocols = [...(options.protocols ?? ['http/1.1'])];
    this.#unverified = options.unverified ?? new Set();
  }

  /**
   * @param ip where to connect
   * @param host name in the URL, which the certificate must bear wherever the connection goes
   * @param http1 offer HTTP/1.1 alone, whatever is configured
   */
  connect(ip: string, port: number, host: string, http1 = false): TLSSocket {
    return this.#open(host, port, {host: ip, port, ...(http1 && {ALPNProtocols: ['http/1.1']})});
  }

  /** TLS over a connection that is there. */
  over(socket: Socket, host: string, port: number): TLSSocket {
    return this.#open(host, port, {socket});
  }

  #open(host: string, port: number, where: ConnectionOptions): TLSSocket {
    // The name in the handshake has no trailing dot, and is absent for addresses (RFC 6066 section 3).
    const name = host.endsWith('.') ? host.slice(0, -1) : host;
    const unverified = this.#unverified.has(name);
    const key = `${name}:${port}`;
    const session = this.#sessions.get(key);
    const socket = connect({
      ALPNProtocols: this.#protocols,
      ...where,
      ...(isIP(name) === 0 ? {servername: name} : {servername: ''}),
      rejectUnauthorized: !unverified,
      checkServerIdentity: (_connected, certificate) => checkServerIdentity(name, certificate),
      ...(session === undefined ? {} : {session}),
      ...(this.#ca === undefined ? {} : {ca: this.#ca}),
    });
    socket.setNoDelay(true);
    // A resumed session is not checked against the name again: what is wrong would not be seen.
    if (!unverified) socket.on('session', (fresh) => this.#keep(key, fresh));
    return socket;
  }

  #keep(key: string, session: Buffer): void {
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    const oldest = this.#sessions.size > maxSessions ? this.#sessions.keys().next().value : undefined;
    if (oldest !== undefined) this.#sessions.delete(oldest);
  }
}

export function tlsFacts(socket: TLSSocket): TlsFacts {
  const {authorized, authorizationError} = socket;
  return {
    tlsVersion: socket.getProtocol(),
    tlsCipher: socket.getCipher()?.standardName ?? null,
    tlsProblem: authorized ? null : problemOf(authorizationError),
  };
}

/** Node keeps the code, or the whole error. */
function problemOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'string' && error !== '' ? error : 'not verified';
}
