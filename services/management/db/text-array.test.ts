import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/fixtures/management/test-database.ts'
import { connect } from './connection.ts'
import { formatTextArray, parseTextArray } from './text-array.ts'

describe('text array', () => {
  it('is parsed to the texts that it was formatted from', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.string({ unit: 'binary' }))), texts => {
        expect(parseTextArray(formatTextArray(texts))).toEqual(texts)
      }),
    )
  })

  it('is exchanged with Postgres in both directions', async () => {
    const testDatabase = await createTestDatabase({ empty: true })
    const sql = connect(testDatabase.target)
    try {
      const texts = ['', 'NULL', ' a ', 'a,b', '{c}', '"', '\\', '\\"\n', 'ünï', null]
      const [row] =
        await sql`select ${texts}::text[] as same, (${texts}::text[])[7] as seventh, '{}'::uuid[] as empty`
      expect(row).toEqual({ same: texts, seventh: '\\', empty: [] })
    } finally {
      await sql.end()
      await testDatabase.remove()
    }
  })
})
