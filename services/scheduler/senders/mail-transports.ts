import { isIP, type Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { SmtpSettings } from '@eyrie/contract/management/delivery-settings'
import type { Egress } from '@eyrie/kit'
import { createTransport } from 'nodemailer'

/**
 * The port of SMTP inside TLS (RFC 8314). On other ports, a connection begins without TLS and
 * changes to it (STARTTLS).
 */
const IMPLICIT_TLS_PORT = 465
/** Maximum number of connections to the mail server. Servers limit them. */
const MAX_CONNECTIONS = 4
/**
 * Number of messages after which a connection is replaced, because servers limit
 * this number as well.
 */
const MAX_MESSAGES_PER_CONNECTION = 100
/** Time after which an unused connection is closed, before the server closes it. */
const IDLE_MS = 20_000
const CONNECT_TIMEOUT_MS = 20_000
/**
 * The server may have closed an idle connection without notice. The message is then
 * sent on another one.
 */
const MAX_REQUEUES = 1

/** A pool of connections to one mail server. */
export type MailTransport = ReturnType<typeof createPool>

type ConnectionSettings = Omit<SmtpSettings, 'smtp_from' | 'smtp_to' | 'smtp_attachment'>

/** Keeps connections to the mail server open for several e-mails. */
export interface MailTransports {
  /**
   * Returns the connections for these settings. The connections of earlier settings are
   * closed once they are idle.
   */
  get(settings: ConnectionSettings): MailTransport
}

export function createMailTransports(egress: Egress): MailTransports {
  let current: { settings: ConnectionSettings; transport: MailTransport } | undefined
  return {
    get({ smtp_host, smtp_port, smtp_auth, smtp_username, smtp_password }) {
      // Settings that do not concern the connection, such as the sender, are left
      // out of the comparison.
      const settings = { smtp_host, smtp_port, smtp_auth, smtp_username, smtp_password }
      if (current && isDeepStrictEqual(current.settings, settings)) return current.transport

      current?.transport.close()
      current = { settings, transport: createPool(settings, egress) }
      return current.transport
    },
  }
}

function createPool(settings: ConnectionSettings, egress: Egress) {
  const { smtp_host, smtp_port, smtp_auth, smtp_username, smtp_password } = settings
  const server = { host: smtp_host, port: smtp_port }
  return createTransport({
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    maxMessages: MAX_MESSAGES_PER_CONNECTION,
    maxRequeues: MAX_REQUEUES,
    idleTimeout: IDLE_MS,
    ...server,
    secure: smtp_port === IMPLICIT_TLS_PORT,
    // A password is never sent without TLS.
    requireTLS: smtp_auth,
    // TLS has no server names for IP addresses.
    tls: { servername: isIP(smtp_host) ? '' : smtp_host },
    ...(smtp_auth && { auth: { user: smtp_username, pass: smtp_password } }),
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket(
      _options: object,
      callback: (error: Error | null, options?: { connection: Socket }) => void,
    ) {
      egress.connect(server, { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) }).then(
        connection => callback(null, { connection }),
        (error: Error) => callback(error),
      )
    },
  })
}
