import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/fixtures/management-database.ts'
import { connect } from './connection.ts'
import { readTextArray, writeTextArray } from './text-array.ts'

test('every array of texts is read as it was written', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.string({ unit: 'binary' }))), texts => {
      expect(readTextArray(writeTextArray(texts))).toEqual(texts)
    }),
  )
})

test('Postgres understands arrays of texts as they are written, and is understood', async () => {
  const its = await createTestDatabase({ empty: true })
  const sql = connect(its.target)
  try {
    const texts = ['', 'NULL', ' a ', 'a,b', '{c}', '"', '\\', '\\"\n', 'ünï', null]
    const [row] =
      await sql`select ${texts}::text[] as back, (${texts}::text[])[7] as seventh, '{}'::uuid[] as none`
    expect(row).toEqual({ back: texts, seventh: '\\', none: [] })
  } finally {
    await sql.end()
    await its.remove()
  }
})
