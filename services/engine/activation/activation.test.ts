import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { communityLicense } from '@eyrie/contract'
import { generateIssuerKeys, type PoolEntry, signPool } from '@eyrie/license'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createActivation } from './activation.ts'

const gold = { version: 1, customer: 'acme', subscription: 'gold', pool: 'box-1' } as const
const entry = { customer: 'acme', subscription: 'gold', pool: 'box-1' }

describe('an activation', () => {
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

  test('is needed before deploying', async () => {
    const activation = await start()
    expect(() => activation.requireActivated()).toThrow('not activated')
    await activation.activate(communityLicense, false)
    activation.requireActivated()
  })

  test('by the same license again changes nothing; with force it is carried out again', async () => {
    const activation = await start()
    const first = await activation.activate(communityLicense, false)
    today = new Date('2026-06-02T00:00:00Z')
    expect(await activation.activate(communityLicense, false)).toEqual(first)
    expect(await activation.activate(communityLicense, true)).toEqual({
      ...first,
      activated_at: '2026-06-02T00:00:00.000Z',
    })
  })

  test('by another license takes force', async () => {
    const activation = await start([entry])
    await activation.activate(communityLicense, false)
    await expect(activation.activate(gold, false)).rejects.toMatchObject({ code: 'activation', status: 409 })
    expect(activation.get().license).toEqual(communityLicense)
    expect((await activation.activate(gold, true)).license).toEqual(gold)
    expect((await start([entry])).get().license).toEqual(gold)
  })

  test('by one of two licenses that come at once tells the other that it is too late', async () => {
    const activation = await start([entry])
    const outcomes = [communityLicense, gold].map(license => activation.activate(license, false))
    expect(await Promise.allSettled(outcomes)).toMatchObject([
      { value: { license: communityLicense } },
      { reason: { code: 'activation', status: 409 } },
    ])
    expect((await start([entry])).get().license).toEqual(communityLicense)
  })

  test.each([
    ['that no pool lists', [{ ...entry, pool: 'box-2' }]],
    ['that has ended', [{ ...entry, until: '2026-05-31T00:00:00Z' }]],
  ])('by a license %s is refused', async (_, pool) => {
    const activation = await start(pool)
    await expect(activation.activate(gold, true)).rejects.toMatchObject({ code: 'license', status: 400 })
    expect(activation.get()).toEqual({ activated: false })
  })

  test('ends with its license, also over a restart, and goes on with a renewed one', async () => {
    const until = '2026-07-01T00:00:00Z'
    const activation = await start([{ ...entry, until }])
    await activation.activate(gold, false)
    today = new Date('2026-06-30T23:59:59Z')
    activation.requireActivated()
    today = new Date(until)
    for (const ended of [activation, await start([{ ...entry, until }])]) {
      expect(ended.get()).toMatchObject({ activated: false, license: gold })
      expect(() => ended.requireActivated()).toThrow(`this license ended at ${until}: renew it`)
    }
    ;(await start([{ ...entry, until: '2027-07-01T00:00:00Z' }])).requireActivated()
    expect((await activation.activate(communityLicense, false)).license).toEqual(communityLicense)
  })

  test('ends when its pool lists it no longer', async () => {
    await (await start([entry])).activate(gold, false)
    expect((await start([])).get().activated).toBe(false)
  })

  test('trusts no pool file that another has signed, or that was changed', async () => {
    const other = generateIssuerKeys().privateKey
    await expect(start([entry], other)).rejects.toThrow('its signature does not match the public key')
    await start([entry])
    const file = join(folder, 'pool.json')
    const changed = (await readFile(file, 'utf8')).replace('box-1', 'box-9')
    await writeFile(file, changed)
    const activation = createActivation({
      folder,
      initial: 'none',
      pool: { file, public_key: issuer.publicKey },
      now: () => today,
    })
    await expect(activation.start()).rejects.toThrow(file)
  })
})
