import { createInterface } from 'node:readline'
import type { ModelHostReply, ModelHostRequest } from '@eyrie/element/testing/model-host-messages'
import { createLog } from '@eyrie/kit'
import { type ModelHost, openModelHost } from './model-host.ts'

// Runs the models of a plugin for its tests. The argument is JSON; requests and replies are lines
// of JSON. Ends with its input.

const { folder, modelFolders } = JSON.parse(process.argv[2]!) as {
  folder: string
  modelFolders: string[]
}
const opening = openModelHost({ folder, modelFolders, log: createLog('engine', 'silent') })
opening.catch(() => {})

async function answer(request: ModelHostRequest): Promise<ModelHostReply> {
  const { id } = request
  try {
    const host: ModelHost = await opening
    return { id, value: await host.handle(request) }
  } catch (error) {
    return { id, error: (error as Error).message }
  }
}

// Requests are not awaited here: several inferences wait at the same time.
const requests = createInterface({ input: process.stdin })
requests.on('line', async line => {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`)
})
requests.on('close', async () => {
  const host = await opening.catch(() => undefined)
  await host?.close()
  process.exit()
})
