import { eq } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { engine } from '../../db/schema/index.ts'
import type { Secrets } from '../../secrets/secrets.ts'

// Some engines are not registered by a person: the engine of this appliance, and engines that
// register themselves. Their address and their token may change at each start.

/**
 * How such an engine is reached. The fields are columns of the table `engine`, but `engine_key` is
 * the token in clear text.
 */
export interface EngineConnection {
  engine_address: string
  engine_port: number
  engine_is_secure: boolean
  engine_key: string
}

/** The connection settings of a new engine, which people can change. */
export const DEFAULT_SETTINGS = {
  engine_timeout: '5s',
  engine_retry: { disable_backoff: false, times: 0, wait_base: 1000 },
}

/**
 * Updates the address and the token of a registered engine. Does nothing if they have not changed.
 */
export async function updateConnection(
  tx: Transaction,
  secrets: Secrets,
  stored: typeof engine.$inferSelect,
  { engine_key: token, ...address }: EngineConnection,
): Promise<void> {
  const isUnchanged =
    stored.engine_address === address.engine_address &&
    stored.engine_port === address.engine_port &&
    stored.engine_is_secure === address.engine_is_secure &&
    secrets.decrypt(stored.engine_key) === token
  if (isUnchanged) return

  await tx
    .update(engine)
    .set({ ...address, engine_key: secrets.encrypt(token), engine_updated_at: new Date() })
    .where(eq(engine.engine_id, stored.engine_id))
}
