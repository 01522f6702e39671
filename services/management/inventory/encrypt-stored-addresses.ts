import { ENCRYPTED_PREFIX } from '@eyrie/kit/secrets'
import { and, eq, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Database } from '../db/database.ts'
import { deviceStream, source } from '../db/schema/index.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { encryptPlainSecrets } from './stored-addresses.ts'

/**
 * Encrypts the passwords and tokens in addresses of sources and of streams that an earlier release
 * has stored in plain text. A migration cannot do this, because the database does not have the key.
 * Runs at every start, in several services at once, and while addresses are edited: it locks only
 * rows that it changes, and changes only an address that is still the one that was read.
 */
export const encryptStoredAddresses = (database: Database, secrets: Secrets): Promise<void> =>
  database.system('encrypt addresses', async tx => {
    // The order prevents two services from waiting for each other.
    const sources = await tx
      .select({ source_id: source.source_id, address: source.source_address })
      .from(source)
      .where(containsPlainSecret(source.source_address))
      .orderBy(source.source_id)
    for (const { source_id, address } of sources) {
      const encrypted = encryptPlainSecrets(address, secrets)
      if (encrypted === address) continue
      await tx
        .update(source)
        .set({ source_address: encrypted })
        .where(and(eq(source.source_id, source_id), eq(source.source_address, address)))
    }

    const streams = await tx
      .select({
        device_id: deviceStream.device_id,
        id: deviceStream.id,
        address: deviceStream.address,
      })
      .from(deviceStream)
      .where(containsPlainSecret(deviceStream.address))
      .orderBy(deviceStream.device_id, deviceStream.id)
    for (const { device_id, id, address } of streams) {
      const encrypted = encryptPlainSecrets(address, secrets)
      if (encrypted === address) continue
      await tx
        .update(deviceStream)
        .set({ address: encrypted })
        .where(
          and(
            eq(deviceStream.device_id, device_id),
            eq(deviceStream.id, id),
            eq(deviceStream.address, address),
          ),
        )
    }
  })

/** Matches an encrypted or empty secret: what is between `:` or `=` and the next delimiter. */
const ENCRYPTED_OR_EMPTY = `([:=])(?:${ENCRYPTED_PREFIX}[[:alnum:]_-]+)?(?=[@&#]|$)`

/** Redaction changes only plain secrets once all others are redacted. */
function containsPlainSecret(address: PgColumn) {
  const redacted = sql`regexp_replace(${address}, ${ENCRYPTED_OR_EMPTY}, '\\1***', 'g')`
  return sql`redact_address(${redacted}) <> ${redacted}`
}
