import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { readEnvironment } from '@eyrie/kit'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/fixtures/temporary.ts'
import { environmentOfServices } from './environment.ts'

test('services use the folders that the caller means, also where a name has a colon', () => {
  const data = join(temporaryFolder(), '12:30')
  mkdirSync(data)
  const environment = readEnvironment({ EYRIE_DATA: data, EYRIE_PLUGINS: '/one\\:1:/two' })
  const given = { ...environment, mediaRoots: [...environment.mediaRoots, '/videos/6:15'] }
  const { ports, urls } = environment
  const told = readEnvironment(environmentOfServices(given, {}, { ports, urls, engineToken: 'token' }))
  expect(told).toMatchObject({
    ...{ data, ring: environment.ring, plugins: ['/one:1', '/two'] },
    mediaRoots: [join(data, 'media'), '/videos/6:15'],
    outputRoots: [join(data, 'output')],
  })
})
