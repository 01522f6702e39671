import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { readEnvironment } from '@eyrie/kit'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { createServiceEnvironment } from './service-environment.ts'

describe('createServiceEnvironment', () => {
  it('passes on folders whose names contain a colon', () => {
    const data = join(createTemporaryFolder(), '12:30')
    mkdirSync(data)
    const environment = readEnvironment({ EYRIE_DATA: data, EYRIE_PLUGINS: '/one\\:1:/two' })
    const extended = { ...environment, mediaRoots: [...environment.mediaRoots, '/videos/6:15'] }
    const { ports, urls } = environment
    const separation = { level: 'partial' as const, missing: ['users'] }
    const passed = createServiceEnvironment(
      extended,
      {},
      { ports, urls, ring: '/dev/shm/r', separation },
    )
    expect(readEnvironment(passed)).toMatchObject({
      ...{ data, ring: '/dev/shm/r', separation, plugins: ['/one:1', '/two'] },
      mediaRoots: [join(data, 'media'), '/videos/6:15'],
      outputRoots: [join(data, 'output')],
    })
  })
})
