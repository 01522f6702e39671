import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { communityLicense } from '@eyrie/contract'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createActivation } from './activation.ts'
import type { PoolEntry } from './pool.ts'

const gold = { version: 1, customer: 'acme', subscription: 'gold', pool: 'box-1' } as const
const entry = { customer: 'acme', subscription: 'gold', pool: 'box-1' }

describe('an activation', () => {
  const issuer = generateKeyPairSync('ed25519')
  let folder: string
  let today: Date

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'eyrie-activation-'))
    today = new Date('2026-06-01T00:00:00Z')
  })
  afterEach(() => rm(folder, { recursive: true }))

  const start = async (pool?: PoolEntry[], signer: KeyObject = issuer.privateKey) => {
    const file = join(folder, 'pool.json')
    const payload = JSON.stringify(pool)
    if (pool)
      await writeFile(
        file,
        JSON.stringify({ payload, signature: sign(null, Buffer.from(payload), signer).toString('base64') }),
      )
    const publicKey = issuer.publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const activation = createActivation({
      folder,
      initial: 'none',
      pool: pool && { file, public_key: publicKey },
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

  test.each([
    ['that no pool lists', [{ ...entry, pool: 'box-2' }]],
    ['that has ended', [{ ...entry, until: '2026-05-31T00:00:00Z' }]],
  ])('by a license %s is refused', async (_, pool) => {
    const activation = await start(pool)
    await expect(activation.activate(gold, true)).rejects.toMatchObject({ code: 'license', status: 400 })
    expect(activation.get()).toEqual({ activated: false })
  })

  test('trusts no pool file that another has signed, or that was changed', async () => {
    const other = generateKeyPairSync('ed25519').privateKey
    await expect(start([entry], other)).rejects.toThrow('its signature does not fit the key')
    await start([entry])
    const file = join(folder, 'pool.json')
    const changed = (await readFile(file, 'utf8')).replace('box-1', 'box-9')
    const publicKey = issuer.publicKey.export({ type: 'spki', format: 'pem' }).toString()
    await writeFile(file, changed)
    const activation = createActivation({
      folder,
      initial: 'none',
      pool: { file, public_key: publicKey },
      now: () => today,
    })
    await expect(activation.start()).rejects.toThrow(file)
  })
})
