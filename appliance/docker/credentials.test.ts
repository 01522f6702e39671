import { readEnvironment } from '@eyrie/kit'
import { expect, it } from 'vitest'
import { createCertificate } from '../../test/fixtures/network/certificate.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { getOrCreateTokens } from '../supervisor/service-secrets.ts'
import { createManagementTargets, storeTokens } from './credentials.ts'

it('the quickstart and the command line find the tokens that the operator has chosen', () => {
  const data = createTemporaryFolder()
  const generated = getOrCreateTokens(readEnvironment({ EYRIE_DATA: data }))
  const chosen = getOrCreateTokens(
    readEnvironment({
      EYRIE_DATA: data,
      EYRIE_ENGINE_TOKENS: 'first,second',
      EYRIE_PLUGIN_TOKENS: 'plugins',
      EYRIE_INTERNAL_TOKEN: 'internal',
    }),
  )
  storeTokens(data, chosen)
  // Like them, without the secrets of the operator.
  expect(getOrCreateTokens(readEnvironment({ EYRIE_DATA: data }))).toEqual({
    engine: ['first'],
    plugins: ['plugins'],
    internal: 'internal',
    scheduler: generated.scheduler,
    join: undefined,
  })
})

it('Prometheus reads the metrics of management by HTTPS if there is a certificate', () => {
  const getScheme = (environment: NodeJS.ProcessEnv) =>
    createManagementTargets(readEnvironment(environment))[0]!.labels.__scheme__
  const { cert, key } = createCertificate(createTemporaryFolder())
  expect(getScheme({})).toBe('http')
  expect(getScheme({ EYRIE_TLS_CERT: cert, EYRIE_TLS_KEY: key })).toBe('https')
})
