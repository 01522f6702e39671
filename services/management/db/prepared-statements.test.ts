import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/fixtures/management/test-database.ts'
import { shared } from '../../../test/fixtures/setup/shared.ts'
import { setting } from './schema/index.ts'
import type { Transaction } from './transaction.ts'

const its = shared(createTestDatabase, ({ remove }) => remove())

/** Runs work in a transaction; one at a time uses the same connection of the pool. */
const transact = <T>(work: (tx: Transaction) => Promise<T>) => its.database.system('test', work)

/** How often each prepared statement of the connection that contains `text` was used. */
const countUses = (text: string) =>
  transact(async tx => {
    const rows = await tx.execute<{ uses: string }>(sql`
      select generic_plans as uses from pg_prepared_statements
      where position(${text} in statement) > 0 and position('pg_prepared' in statement) = 0`)
    return rows.map(({ uses }) => Number(uses))
  })

describe('statement of a connection', () => {
  it('is prepared from its second use, with and without parameters', async () => {
    const uses: number[][] = []
    for (let n = 0; n < 3; n += 1) {
      await transact(tx => tx.execute(sql`select ${n}::int as repeated_with_parameter`))
      await transact(tx => tx.execute(sql`select 1 as repeated_without_parameter`))
      uses.push(await countUses('repeated_with'))
    }
    expect(uses).toEqual([[], [1, 1], [2, 2]])
  })

  it('returns the same rows at every use', async () => {
    await transact(tx => tx.insert(setting).values({ name: 'sms', value: { to: ['1', '2'] } }))
    const reads = []
    for (let n = 0; n < 3; n += 1) reads.push(await transact(tx => tx.select().from(setting)))
    expect(reads).toEqual([reads[0], reads[0], reads[0]])
    expect(reads[0]).toMatchObject([{ name: 'sms', value: { to: ['1', '2'] } }])
  })

  it('may consist of several statements, which are not prepared', async () => {
    for (let n = 0; n < 3; n += 1) {
      await transact(tx => tx.execute(sql`select 1 as first_of_two; select 2 as second_of_two`))
    }
    expect(await countUses('of_two')).toEqual([])
  })

  it('is not prepared beyond 200 others', async () => {
    for (let n = 0; n < 300; n += 1) {
      for (let use = 0; use < 2; use += 1) {
        await transact(tx => tx.execute(sql.raw(`select ${n} as numbered`)))
      }
    }
    expect((await countUses('numbered')).length).toBeLessThanOrEqual(200)
  })
})
