import { readEnvironment } from '@eyrie/kit'
import { expect, it } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { getOrCreateTokens } from '../supervisor/service-secrets.ts'
import { storeTokens } from './credentials.ts'

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
