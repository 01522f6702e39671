import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMUNITY_LICENSE } from '@eyrie/contract'
import { generateIssuerKeys, signPool } from '@eyrie/license'
import { expect, onTestFinished, test } from 'vitest'
import { v2AndV3 } from '../../../../test/fixtures/engine/conformance.ts'
import { startEngine } from '../../../../test/fixtures/engine/engine.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'

const gold = { version: 1, customer: 'acme', subscription: 'gold', pool: 'box-1' }
const { version: _, ...entry } = gold

test.each(v2AndV3)(
  'in %s another license is rejected with 409 without force, and replaces the first license with force',
  async revision => {
    const folder = createTemporaryFolder()
    const issuer = generateIssuerKeys()
    const file = join(folder, 'pool.json')
    writeFileSync(file, signPool([entry], issuer.privateKey))
    const licensePool = { file, public_key: issuer.publicKey }
    writeFileSync(
      join(folder, 'eyrie.json'),
      JSON.stringify({ engine: { license_pool: licensePool } }),
    )
    const { engine, getRevision } = await startEngine(folder)
    onTestFinished(() => engine.stop())
    const call = getRevision(revision)

    expect((await call('POST', '/activation', COMMUNITY_LICENSE)).status).toBe(200)
    expect(await call('POST', '/activation', gold)).toMatchObject({
      status: 409,
      body: { code: 'activation', reason: expect.any(String) },
    })
    expect((await call('GET', '/activation')).body.license).toEqual(COMMUNITY_LICENSE)
    expect(await call('POST', '/activation?force=true', gold)).toMatchObject({
      status: 200,
      body: { activated: true, license: gold },
    })
    expect((await call('GET', '/activation')).body.license).toEqual(gold)
  },
)
