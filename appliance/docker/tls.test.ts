import { execFile } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { readEnvironment } from '@eyrie/kit'
import { expect, onTestFinished, test } from 'vitest'
import { createCertificate } from '../../test/fixtures/network/certificate.ts'
import { readSecureStatus } from '../../test/fixtures/network/secure-status.ts'
import { startService } from '../../test/fixtures/processes/service-process.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { getOrCreateTokens, selectSecrets } from '../supervisor/service-secrets.ts'
import { readGivenSecrets } from './given-secrets.ts'

const NAME = 'eyrie.test'
/** As appliance/docker/start, without a change of the user. */
const START =
  'exec 3<"$EYRIE_CREDENTIALS"; export EYRIE_SECRETS_FD=3; unset EYRIE_CREDENTIALS; exec "$@"'

test('management serves TLS with a certificate in the folder of secrets, and its health check accepts it', {
  timeout: 180_000,
}, async () => {
  const given = createTemporaryFolder()
  const { cert, key } = createCertificate(createTemporaryFolder(), NAME)
  copyFileSync(cert, join(given, 'tls.crt'))
  copyFileSync(key, join(given, 'tls.key'))
  const data = createTemporaryFolder()
  const environment = readEnvironment({ EYRIE_DATA: data, ...readGivenSecrets(given).certificate })
  const secrets = selectSecrets('management', environment, getOrCreateTokens(environment))
  const credentials = join(createTemporaryFolder(), 'secrets.json')
  writeFileSync(credentials, JSON.stringify(secrets))

  const management = await startService(
    'management',
    { EYRIE_DATA: data, EYRIE_MANAGEMENT_PORT: '0', EYRIE_CREDENTIALS: credentials },
    ['bash', '-c', START, 'start'],
  )
  onTestFinished(() => management.stop())

  const { port } = management
  const ca = readFileSync(cert, 'utf8')
  await expect
    .poll(() => readSecureStatus({ port, ca, servername: NAME }), { timeout: 120_000 })
    .toBe(200)
  await expect(readSecureStatus({ port, servername: NAME })).rejects.toThrow(
    'self-signed certificate',
  )
  await expect(fetch(`${management.url}/health`)).rejects.toThrow('fetch failed')
  await promisify(execFile)(resolve(import.meta.dirname, 'health'), {
    env: { ...process.env, EYRIE_HEALTH_PORT: String(port), EYRIE_HEALTH_TLS: NAME },
  })
})
