import { isIP, type Socket } from 'node:net'
import type { SmtpSettings } from '@eyrie/contract/management/delivery-settings'
import type { Egress } from '@eyrie/kit'
import { createTransport } from 'nodemailer'

/** The port of SMTP inside TLS (RFC 8314). On other ports, a connection begins without TLS and changes to it (STARTTLS). */
const IMPLICIT_TLS_PORT = 465
/** Connections to the mail server, and messages on one of them. Servers limit both. */
const MAX_CONNECTIONS = 4
const MAX_MESSAGES = 100
/** Time after which an unused connection is closed, before servers do so. */
const IDLE_MS = 20_000
const CONNECT_TIMEOUT_MS = 20_000
/** A server may have closed a connection that was idle: the message is sent by another one. */
const MAX_REQUEUES = 1

type Transport = ReturnType<typeof createPool>
type ConnectionSettings = Omit<SmtpSettings, 'smtp_from' | 'smtp_to' | 'smtp_attachment'>

/** Connections to the mail server, which are used for several e-mails. */
export interface MailTransports {
  /** Returns the connections to the server of these settings. Those of other settings are closed when they are idle. */
  use(settings: ConnectionSettings): Transport
}

export function createMailTransports(egress: Egress): MailTransports {
  let current: { key: string; transport: Transport } | undefined
  return {
    use({ smtp_host, smtp_port, smtp_auth, smtp_username, smtp_password }) {
      const settings = { smtp_host, smtp_port, smtp_auth, smtp_username, smtp_password }
      const key = JSON.stringify(settings)
      if (current?.key === key) return current.transport
      current?.transport.close()
      current = { key, transport: createPool(settings, egress) }
      return current.transport
    },
  }
}

function createPool(settings: ConnectionSettings, egress: Egress) {
  const { smtp_host: host, smtp_port: port, smtp_auth, smtp_username, smtp_password } = settings
  return createTransport({
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    maxMessages: MAX_MESSAGES,
    maxRequeues: MAX_REQUEUES,
    idleTimeout: IDLE_MS,
    host,
    port,
    secure: port === IMPLICIT_TLS_PORT,
    // A password is never sent without TLS.
    requireTLS: smtp_auth,
    tls: { servername: isIP(host) ? '' : host },
    ...(smtp_auth && { auth: { user: smtp_username, pass: smtp_password } }),
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket(_: object, callback: (error: Error | null, options?: { connection: Socket }) => void) {
      egress.connect({ host, port }, { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) }).then(
        connection => callback(null, { connection }),
        (error: Error) => callback(error),
      )
    },
  })
}
