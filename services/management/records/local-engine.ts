import { eq } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { setting } from '../db/schema/index.ts'

const NAME = 'local_engine'

/** Under which id the engine of this box has been registered; undefined: never. It may have been taken out since. */
export async function localEngineId(tx: Transaction): Promise<string | undefined> {
  const [known] = await tx.select().from(setting).where(eq(setting.name, NAME))
  return (known?.value as { engine_id: string } | undefined)?.engine_id
}

export const keepLocalEngineId = (tx: Transaction, engine_id: string) =>
  tx.insert(setting).values({ name: NAME, value: { engine_id } })
