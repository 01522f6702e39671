import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { communityLicense } from '@eyrie/contract'
import { generateIssuerKeys, signPool } from '@eyrie/license'
import { expect, onTestFinished, test } from 'vitest'
import { activated } from '../../../../test/fixtures/conformance.ts'
import { startEngine } from '../../../../test/fixtures/engine.ts'
import { temporaryFolder } from '../../../../test/fixtures/temporary.ts'

const gold = { version: 1, customer: 'acme', subscription: 'gold', pool: 'box-1' }
const { version: _, ...entry } = gold

test.each(activated)(
  'in %s another license is 409 without force, and replaces the first with it',
  async revision => {
    const folder = temporaryFolder()
    const issuer = generateIssuerKeys()
    const file = join(folder, 'pool.json')
    writeFileSync(file, signPool([entry], issuer.privateKey))
    const license_pool = { file, public_key: issuer.publicKey }
    writeFileSync(join(folder, 'eyrie.json'), JSON.stringify({ engine: { license_pool } }))
    const { engine, callOf } = await startEngine(folder)
    onTestFinished(() => engine.stop())
    const call = callOf(revision)

    expect((await call('POST', '/activation', communityLicense)).status).toBe(200)
    expect(await call('POST', '/activation', gold)).toMatchObject({
      status: 409,
      body: { code: 'activation', reason: expect.any(String) },
    })
    expect((await call('GET', '/activation')).body.license).toEqual(communityLicense)
    expect(await call('POST', '/activation?force=true', gold)).toMatchObject({
      status: 200,
      body: { activated: true, license: gold },
    })
    expect((await call('GET', '/activation')).body.license).toEqual(gold)
  },
)
