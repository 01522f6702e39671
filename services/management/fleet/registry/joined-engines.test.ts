import { randomUUID } from 'node:crypto'
import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import {
  sharedHierarchy,
  sharedManagement,
} from '../../../../test/fixtures/management/shared-management.ts'
import { engine, engineSite, joinToken } from '../../db/schema/index.ts'
import { loadSecrets } from '../../secrets/secrets.ts'
import { type JoiningEngine, joinEngine } from './joined-engines.ts'

const { engine: engines } = managementRoutes
const CONFIGURED = 'configured'

describe('an engine that joins', () => {
  const management = sharedManagement()
  const hierarchy = sharedHierarchy(management, 'own')

  const joinFrom = (engineAddress: string, fields: Partial<JoiningEngine> = {}) =>
    management.database.system('test', tx =>
      joinEngine(
        tx,
        {
          join_token: CONFIGURED,
          engine_identity: randomUUID(),
          engine_name: 'replica',
          engine_address: engineAddress,
          engine_port: 8100,
          engine_is_secure: false,
          engine_key: 'key',
          ...fields,
        },
        { secrets: loadSecrets(management.data), configuredToken: CONFIGURED },
      ),
    )
  const read = async (engineId: string) => {
    const [row] = await management.database.system('test', tx =>
      tx.select().from(engine).where(eq(engine.engine_id, engineId)),
    )
    return row
  }
  const createToken = async (fields: { site_ids?: string[]; expires_at?: string } = {}) =>
    (await management.call(engines.createJoinToken, { name: 'token', ...fields })).response

  it('is registered at the address that it connects from', async () => {
    const engineId = await joinFrom('192.0.2.1')
    expect(await read(engineId)).toMatchObject({
      engine_name: 'replica',
      engine_address: '192.0.2.1',
      engine_port: 8100,
      organization_id: null,
    })
    // The request cannot name an address.
    const input = { join_token: CONFIGURED, engine_address: '192.0.2.9' }
    expect(await management.send(engines.join, input, null)).toMatchObject({
      status: 400,
      message: expect.stringContaining('engine_address'),
    })
  })

  it('is the same engine at another address, with any token, and keeps the name that people gave it', async () => {
    const engineIdentity = randomUUID()
    const engineId = await joinFrom('192.0.2.2', { engine_identity: engineIdentity })
    await management.database.system('test', tx =>
      tx.update(engine).set({ engine_name: 'Hall' }).where(eq(engine.engine_id, engineId)),
    )
    const moved = {
      engine_identity: engineIdentity,
      join_token: 'revoked',
      engine_port: 8101,
      engine_key: 'new',
    }
    expect(await joinFrom('192.0.2.3', moved)).toBe(engineId)
    const row = await read(engineId)
    expect(row).toMatchObject({
      engine_name: 'Hall',
      engine_address: '192.0.2.3',
      engine_port: 8101,
    })
    expect(loadSecrets(management.data).decrypt(row!.engine_key)).toBe('new')
    const { engine_updated_at } = row!
    await joinFrom('192.0.2.3', moved)
    expect(await read(engineId)).toMatchObject({ engine_updated_at })
  })

  it('is another engine with the same token and another identity', async () => {
    expect(await joinFrom('192.0.2.4')).not.toBe(await joinFrom('192.0.2.4'))
  })

  it('is refused with an unknown, expired or deleted token', async () => {
    const refused = 'the join token is unknown or has expired'
    await expect(joinFrom('192.0.2.5', { join_token: 'guessed' })).rejects.toThrow(refused)
    await expect(joinFrom('192.0.2.5', { join_token: '' })).rejects.toThrow(refused)

    const { join_token, join_token_id: joinTokenId } = await createToken({
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    })
    await joinFrom('192.0.2.5', { join_token })
    await management.database.system('test', tx =>
      tx
        .update(joinToken)
        .set({ expires_at: new Date() })
        .where(eq(joinToken.join_token_id, joinTokenId)),
    )
    await expect(joinFrom('192.0.2.5', { join_token })).rejects.toThrow(refused)

    const other = await createToken()
    await management.call(engines.deleteJoinToken, { join_token_id: other.join_token_id })
    await expect(joinFrom('192.0.2.5', { join_token: other.join_token })).rejects.toThrow(refused)
  })

  it('serves the sites of its token, and belongs to their organization', async () => {
    const { organization_id, site_id: siteId } = hierarchy
    const { join_token, join_token_id: joinTokenId } = await createToken({ site_ids: [siteId] })
    const engineId = await joinFrom('192.0.2.6', { join_token })
    expect(await read(engineId)).toMatchObject({ organization_id })
    const sites = await management.database.system('test', tx =>
      tx.select().from(engineSite).where(eq(engineSite.engine_id, engineId)),
    )
    expect(sites).toEqual([{ engine_id: engineId, site_id: siteId }])
    const { response } = await management.call(engines.listJoinTokens)
    const listed = response.find(token => token.join_token_id === joinTokenId)
    expect(listed).toMatchObject({ site_ids: [siteId], used_at: expect.any(String) })
  })
})
