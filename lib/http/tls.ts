import {isIP} from 'node:net';
import {checkServerIdentity, connect, type TLSSocket} from 'node:tls';

export interface TlsFacts {
  /** As TLSv1.3. */
  readonly tlsVersion: string | null;
  /** Name of IANA's registry, as TLS_AES_128_GCM_SHA256. */
  readonly tlsCipher: string | null;
}

/** Sessions to resume, for at most this many hosts (1 to 4 KB each). */
const maxSessions = 1_000;

export interface TlsOptions {
  /** Certificate authorities in place of Node's, in PEM. For tests, and networks with an authority of their own. */
  readonly ca?: string;
}

/** Opens TLS connections, verified against Node's authorities and the host's name; resumes sessions. */
export class TlsDialer {
  readonly #ca: string | undefined;
  readonly #sessions = new Map<string, Buffer>();

  constructor(options: TlsOptions) {
    this.#ca = options.ca;
  }

  /**
   * @param ip where to connect
   * @param host name in the URL, which the certificate must bear wherever the connection goes
   */
  connect(ip: string, port: number, host: string): TLSSocket {
    // The name in the handshake has no trailing dot, and is absent for addresses (RFC 6066 section 3).
    const name = host.endsWith('.') ? host.slice(0, -1) : host;
    const key = `${name}:${port}`;
    const session = this.#sessions.get(key);
    const socket = connect({
      host: ip,
      port,
      ...(isIP(name) === 0 ? {servername: name} : {servername: ''}),
      ALPNProtocols: ['http/1.1'],
      checkServerIdentity: (_connected, certificate) => checkServerIdentity(name, certificate),
      ...(session === undefined ? {} : {session}),
      ...(this.#ca === undefined ? {} : {ca: this.#ca}),
    });
    socket.setNoDelay(true);
    socket.on('session', (fresh) => {
      this.#sessions.delete(key);
      this.#sessions.set(key, fresh);
      const oldest = this.#sessions.size > maxSessions ? this.#sessions.keys().next().value : undefined;
      if (oldest !== undefined) this.#sessions.delete(oldest);
    });
    return socket;
  }
}

export function tlsFacts(socket: TLSSocket): TlsFacts {
  return {tlsVersion: socket.getProtocol(), tlsCipher: socket.getCipher()?.standardName ?? null};
}
