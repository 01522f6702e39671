import { EyrieError } from '@eyrie/contract'
import { mediaRoutes } from '@eyrie/contract/management/index'
import { tryParseJson } from '@eyrie/contract/parse'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import type { Database, Transaction } from '../../db/database.ts'
import { channel } from '../../db/schema/index.ts'
import { authorize } from '../../rights/access.ts'
import type { Principal } from '../../rights/principal.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { findTokenScopes } from '../../users/api-tokens.ts'
import { loadPrincipal } from '../../users/load-principal.ts'
import { isSessionActive } from '../../users/sessions.ts'

// A ticket in the address of a live view names the session or the API token that requested it, so
// that the view ends with the access of its user. Only this appliance can create it.

/** Distinguishes tickets from other encrypted texts. */
const PURPOSE = 'live view:'

const viewTicket = z.strictObject({
  channel_id: z.uuid(),
  user_id: z.uuid(),
  session_id: z.uuid().optional(),
  token_id: z.uuid().optional(),
  /** Until when a view may be opened. Epoch ms. */
  expires: z.int(),
})
export type ViewTicket = z.infer<typeof viewTicket>

/** Returns a ticket with which `caller` may open the live view of a channel, as text for a URL. */
export function createViewTicket(
  secrets: Secrets,
  { user_id, session_id, token_id }: Pick<Principal, 'user_id' | 'session_id' | 'token_id'>,
  { channel_id, expires }: Pick<ViewTicket, 'channel_id' | 'expires'>,
): string {
  const ticket: ViewTicket = { channel_id, user_id, session_id, token_id, expires }
  return secrets.encrypt(PURPOSE + JSON.stringify(ticket))
}

/**
 * Returns the content of a ticket; undefined if this appliance has not created it. The caller must
 * check `expires`.
 */
export function readViewTicket(secrets: Secrets, text: string): ViewTicket | undefined {
  try {
    const content = secrets.decrypt(text)
    if (!content.startsWith(PURPOSE)) return undefined
    return viewTicket.safeParse(tryParseJson(content.slice(PURPOSE.length))).data
  } catch {
    return undefined
  }
}

/**
 * Throws `EyrieError` unless the user of a ticket may see its channel: `auth` if the session or API
 * token has ended, `rights` if the role does not permit live views, `id` if the channel does not
 * exist or is invisible.
 */
export async function assertMayView(
  database: Database,
  ticket: ViewTicket,
  now: Date,
): Promise<void> {
  const viewer = await database.system('identify', tx => loadViewer(tx, ticket, now))
  if (!viewer) {
    throw new EyrieError('auth', 'the session or API token that requested this ticket has ended')
  }
  authorize(mediaRoutes.ticket, viewer)

  const { channel_id: channelId } = ticket
  const visible = await database.as(viewer, 'live views', tx =>
    tx
      .select({ channel_id: channel.channel_id })
      .from(channel)
      .where(eq(channel.channel_id, channelId)),
  )
  if (visible.length === 0) throw new EyrieError('id', `channel ${channelId} does not exist`)
}

/**
 * Returns the user of a ticket; undefined if the user may not sign in any more, or if the session
 * or the API token has ended.
 */
async function loadViewer(
  tx: Transaction,
  { user_id, session_id, token_id }: ViewTicket,
  now: Date,
): Promise<Principal | undefined> {
  const principal = await loadPrincipal(tx, user_id)
  if (!principal) return undefined
  if (token_id) {
    const scopes = await findTokenScopes(tx, { token_id, user_id }, now)
    return scopes && { ...principal, token_id, scopes }
  }
  const isActive = session_id && (await isSessionActive(tx, { session_id, user_id }, now))
  return isActive ? { ...principal, session_id } : undefined
}
