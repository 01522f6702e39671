import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/fixtures/management/test-database.ts'
import { shared } from '../../../test/fixtures/setup/shared.ts'
import { definePreparedQuery } from './prepared-query.ts'
import { setting } from './schema/index.ts'
import type { Transaction } from './transaction.ts'

const its = shared(createTestDatabase, ({ remove }) => remove())

const transact = <T>(work: (tx: Transaction) => Promise<T>) => its.database.system('test', work)

test('a prepared query is built once for each connection, and finds the rows of its values at every use', async () => {
  await transact(tx =>
    tx.insert(setting).values([
      { name: 'first', value: 1 },
      { name: 'second', value: 2 },
    ]),
  )
  const builtFor: Transaction[] = []
  const findSetting = definePreparedQuery(tx => {
    builtFor.push(tx)
    return tx
      .select({ value: setting.value })
      .from(setting)
      .where(eq(setting.name, sql.placeholder('name')))
  })
  const usedBy = new Set<Transaction>()
  const find = (name: string) =>
    transact(async tx => {
      usedBy.add(tx)
      return findSetting(tx, { name })
    })

  const names = ['first', 'second', 'missing']
  const expected = [[{ value: 1 }], [{ value: 2 }], []]
  for (let n = 0; n < 3; n += 1) expect(await Promise.all(names.map(find))).toEqual(expected)
  expect(builtFor).toHaveLength(usedBy.size)
  expect(new Set(builtFor)).toEqual(usedBy)
})
