import { createLog } from '@eyrie/kit'
import { expect, it } from 'vitest'
import { localEngineEgress } from '../../../test/fixtures/network/local-egress.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { createLocalSessions } from '../users/local-sessions.ts'
import { createApp } from './app.ts'
import { createUpstream } from './live/upstream-client.ts'

function unexpected(): never {
  throw new Error('the page needs no database')
}

it('responses over TLS make browsers use only TLS for a year', async () => {
  const log = createLog('management', 'silent')
  const file = `${createTemporaryFolder()}/local-sessions.json`
  const upstream = createUpstream({ name: 'engine', url: 'http://127.0.0.1:9', token: undefined })
  const app = createApp({
    host: '0.0.0.0',
    data: createTemporaryFolder(),
    database: unexpected,
    schedulerToken: undefined,
    services: unexpected,
    localSessions: createLocalSessions({ file, log }),
    egress: localEngineEgress,
    engine: upstream,
    media: upstream,
    consoleFolder: createTemporaryFolder(),
    version: '0.0.0',
    log,
  })
  const readHeader = async (url: string) =>
    (await app.request(url)).headers.get('Strict-Transport-Security')
  for (const path of ['/docs', '/api/v1/openapi.json', '/missing']) {
    expect(await readHeader(`https://eyrie.test${path}`)).toBe('max-age=31536000')
    expect(await readHeader(`http://eyrie.test${path}`)).toBeNull()
  }
})
