import type { WebSocket } from 'ws'
import { type CheckAccess, findDenial, waitForRecheck } from './view-access.ts'

/**
 * Reading from the upstream service pauses while more bytes than this are buffered for the client.
 */
const HIGH_WATER_MARK_BYTES = 512 * 1024

/** Close codes of the IANA WebSocket registry. */
const POLICY_VIOLATION = 1008
const SERVICE_RESTART = 1012
const TRY_AGAIN_LATER = 1013
/** Maximum length of the reason in a close frame (RFC 6455, sections 5.5 and 5.5.1). */
const MAX_REASON_BYTES = 123

/**
 * Returns whether a close code may be sent. 1004 to 1006 are reserved (RFC 6455, section 7.4.1).
 */
const isSendable = (code: number) => code <= 1003 || code >= 1007

/**
 * Forwards messages from the upstream service to the client. Nothing is sent in the other
 * direction. When one side closes, the other side is closed too.
 *
 * Messages are read only as fast as the client receives them. A slow client therefore fills the
 * buffers of the upstream service, which can decide what to drop. If the service is
 * unreachable, the close frame contains the reason, because browsers do not show the response
 * to a failed handshake.
 */
export async function relayWebSocket(
  connecting: Promise<WebSocket>,
  client: WebSocket,
): Promise<void> {
  try {
    forwardMessages(await connecting, client)
  } catch (error) {
    client.close(TRY_AGAIN_LATER, truncateReason((error as Error).message))
  }
}

/** Checks the access of an open client again and again, and closes it when its access has ended. */
export async function closeWithoutAccess(
  client: WebSocket,
  checkAccess: CheckAccess,
): Promise<void> {
  while (client.readyState === client.OPEN) {
    await waitForRecheck()
    const denial = await findDenial(checkAccess)
    // Has no effect on a client that has closed meanwhile.
    if (denial) client.close(POLICY_VIOLATION, truncateReason(denial))
  }
}

function forwardMessages(upstream: WebSocket, client: WebSocket) {
  const resumeIfDrained = () => {
    if (client.bufferedAmount < HIGH_WATER_MARK_BYTES && upstream.isPaused) upstream.resume()
  }

  upstream.on('message', (data, binary) => {
    client.send(data, { binary, compress: false }, resumeIfDrained)
    if (client.bufferedAmount >= HIGH_WATER_MARK_BYTES) upstream.pause()
  })

  // Errors need no handling: `close` always follows `error`.
  upstream.on('error', () => {})
  client.on('error', () => {})
  upstream.on('close', (code, reason) =>
    client.close(isSendable(code) ? code : SERVICE_RESTART, reason),
  )
  client.on('close', () => upstream.terminate())

  // The upstream connection is paused at first. The client may have closed while it was being
  // opened.
  if (client.readyState === client.OPEN) upstream.resume()
  else upstream.terminate()
}

/** Encodes the text as UTF-8, truncated to the whole characters that fit into a close frame. */
function truncateReason(text: string): Buffer {
  const bytes = Buffer.alloc(MAX_REASON_BYTES)
  return bytes.subarray(0, new TextEncoder().encodeInto(text, bytes).written)
}
