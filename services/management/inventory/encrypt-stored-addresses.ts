import { and, eq, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Database } from '../db/database.ts'
import { deviceStream, source } from '../db/schema/index.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { encryptPlainSecrets } from './stored-addresses.ts'

/**
 * Encrypts the passwords and tokens in addresses of sources and of streams that an earlier release
 * has stored in plain text. A migration cannot do this, because the database does not have the key.
 */
export const encryptStoredAddresses = (database: Database, secrets: Secrets): Promise<void> =>
  database.system('encrypt addresses', async tx => {
    const sources = await tx
      .select({ source_id: source.source_id, address: source.source_address })
      .from(source)
      .where(containsSecret(source.source_address))
      .for('update')
    for (const { source_id, address } of sources) {
      const encrypted = encryptPlainSecrets(address, secrets)
      if (encrypted === address) continue
      await tx
        .update(source)
        .set({ source_address: encrypted })
        .where(eq(source.source_id, source_id))
    }

    const streams = await tx
      .select({
        device_id: deviceStream.device_id,
        id: deviceStream.id,
        address: deviceStream.address,
      })
      .from(deviceStream)
      .where(containsSecret(deviceStream.address))
      .for('update')
    for (const { device_id, id, address } of streams) {
      const encrypted = encryptPlainSecrets(address, secrets)
      if (encrypted === address) continue
      await tx
        .update(deviceStream)
        .set({ address: encrypted })
        .where(and(eq(deviceStream.device_id, device_id), eq(deviceStream.id, id)))
    }
  })

const containsSecret = (address: PgColumn) => sql`redact_address(${address}) <> ${address}`
