import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COMMUNITY_LICENSE } from '@eyrie/contract'
import { generateIssuerKeys, type PoolEntry, signPool } from '@eyrie/license'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createActivation } from './activation.ts'

const gold = { version: 1, customer: 'acme', subscription: 'gold', pool: 'box-1' } as const
const entry = { customer: 'acme', subscription: 'gold', pool: 'box-1' }

describe('activation', () => {
  const issuer = generateIssuerKeys()
  let folder: string
  let today: Date

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'eyrie-activation-'))
    today = new Date('2026-06-01T00:00:00Z')
  })
  afterEach(() => rm(folder, { recursive: true }))

  const start = async (pool?: PoolEntry[], signer = issuer.privateKey) => {
    const file = join(folder, 'pool.json')
    if (pool) await writeFile(file, signPool(pool, signer))
    const activation = createActivation({
      folder,
      initial: 'none',
      pool: pool && { file, public_key: issuer.publicKey },
      now: () => today,
    })
    await activation.start()
    return activation
  }

  test('is required before a deployment', async () => {
    const activation = await start()
    expect(() => activation.assertActivated()).toThrow('not activated')
    await activation.activate(COMMUNITY_LICENSE)
    activation.assertActivated()
  })

  test('ignores the active license, but activates it again with force', async () => {
    const activation = await start()
    const first = await activation.activate(COMMUNITY_LICENSE)
    today = new Date('2026-06-02T00:00:00Z')
    expect(await activation.activate(COMMUNITY_LICENSE)).toEqual(first)
    expect(await activation.activate(COMMUNITY_LICENSE, { force: true })).toEqual({
      ...first,
      activated_at: '2026-06-02T00:00:00.000Z',
    })
  })

  test('requires force to replace the license', async () => {
    const activation = await start([entry])
    await activation.activate(COMMUNITY_LICENSE)
    await expect(activation.activate(gold)).rejects.toMatchObject({
      code: 'activation',
      status: 409,
    })
    expect(activation.get().license).toEqual(COMMUNITY_LICENSE)
    expect((await activation.activate(gold, { force: true })).license).toEqual(gold)
    expect((await start([entry])).get().license).toEqual(gold)
  })

  test('accepts only the first of two concurrent licenses', async () => {
    const activation = await start([entry])
    const outcomes = [COMMUNITY_LICENSE, gold].map(license => activation.activate(license))
    expect(await Promise.allSettled(outcomes)).toMatchObject([
      { value: { license: COMMUNITY_LICENSE } },
      { reason: { code: 'activation', status: 409 } },
    ])
    expect((await start([entry])).get().license).toEqual(COMMUNITY_LICENSE)
  })

  test.each([
    ['missing from the pool', [{ ...entry, pool: 'box-2' }]],
    ['that has expired', [{ ...entry, until: '2026-05-31T00:00:00Z' }]],
  ])('rejects a license %s', async (_, pool) => {
    const activation = await start(pool)
    await expect(activation.activate(gold, { force: true })).rejects.toMatchObject({
      code: 'license',
      status: 400,
    })
    expect(activation.get()).toEqual({ activated: false })
  })

  test('expires with the license, also after a restart, until the license is renewed', async () => {
    const until = '2026-07-01T00:00:00Z'
    const activation = await start([{ ...entry, until }])
    await activation.activate(gold)
    today = new Date('2026-06-30T23:59:59Z')
    activation.assertActivated()
    today = new Date(until)
    for (const expired of [activation, await start([{ ...entry, until }])]) {
      expect(expired.get()).toMatchObject({ activated: false, license: gold })
      expect(() => expired.assertActivated()).toThrow(`the license expired at ${until}: renew it`)
    }
    ;(await start([{ ...entry, until: '2027-07-01T00:00:00Z' }])).assertActivated()
    expect((await activation.activate(COMMUNITY_LICENSE)).license).toEqual(COMMUNITY_LICENSE)
  })

  test('ends when the license is removed from the pool', async () => {
    await (await start([entry])).activate(gold)
    expect((await start([])).get().activated).toBe(false)
  })

  test('rejects a pool file with an invalid signature', async () => {
    const other = generateIssuerKeys().privateKey
    await expect(start([entry], other)).rejects.toThrow(
      'its signature does not match the public key',
    )
    await start([entry])
    const file = join(folder, 'pool.json')
    const tampered = (await readFile(file, 'utf8')).replace('box-1', 'box-9')
    await writeFile(file, tampered)
    const activation = createActivation({
      folder,
      initial: 'none',
      pool: { file, public_key: issuer.publicKey },
      now: () => today,
    })
    await expect(activation.start()).rejects.toThrow(file)
  })
})
