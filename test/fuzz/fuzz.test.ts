import { describe, it } from 'vitest'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'
import { fuzzEngine } from './engine-requests.ts'
import { fuzzManagement } from './management-requests.ts'
import { fuzzOutputConnections } from './output-connections.ts'
import { fuzzPictures } from './picture-requests.ts'

describe('fuzzing', () => {
  it('gets responses that conform to the contract from every route of every engine API revision', async () => {
    await fuzzEngine({ requests: 1000 })
  }, 180_000)

  it('gets responses that conform to the contract from every management operation as every role', async () => {
    await fuzzManagement({ requests: 300 })
  }, 180_000)

  it('gets either a WebSocket that starts with hello or an error body from the output', async () => {
    await fuzzOutputConnections(createTemporaryFolder(), { connections: 200 })
  }, 180_000)

  it('gets stored pictures unchanged and an error for every other name', async () => {
    await fuzzPictures(createTemporaryFolder(), { requests: 500 })
  }, 180_000)
})
