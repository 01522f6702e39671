import { once } from 'node:events'
import { type Consumer, consumer } from '@eyrie/contract'
import { listen } from '@eyrie/kit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createClient } from '../../../sdk/client/index.ts'
import { startEngine } from '../../../test/fixtures/engine/engine.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { MAX_CONSUMERS } from '../output/output-consumers.ts'

test('consumers are listed, limited in number, and deleted after they have disconnected', async () => {
  const { engine, call } = await startEngine(createTemporaryFolder())
  const server = await listen(engine, '127.0.0.1', 0)
  onTestFinished(async () => {
    await server.close()
    await engine.stop()
  })
  const client = createClient({ url: `http://127.0.0.1:${server.port}` })
  const follow = (name: string) =>
    new WebSocket(`ws://127.0.0.1:${server.port}/api/v3/output?consumer=${name}`)
  const listed = async (): Promise<Consumer[]> => (await call('GET', '/consumers')).body
  const untilGone = async (name: string) => {
    const isGone = async () => !(await listed()).find(each => each.name === name)?.connected
    await vi.waitUntil(isGone, { timeout: 60_000 })
  }

  const stays = follow('stays')
  await once(stays, 'message')
  for (let n = 1; n < MAX_CONSUMERS; n++) {
    const socket = follow(`passes.${n}`)
    await once(socket, 'message')
    socket.terminate()
  }
  const [first] = await listed()
  expect(consumer.parse(first)).toMatchObject({
    name: 'stays',
    acknowledged: 0,
    connected: true,
    held: 0,
  })

  const refused = follow('one-too-many')
  const [, answer] = await once(refused, 'unexpected-response')
  expect(answer.statusCode).toBe(409)
  expect(JSON.parse(Buffer.concat(await answer.toArray()).toString())).toMatchObject({
    code: 'capacity',
    reason: expect.stringContaining('DELETE /api/v3/consumers/{name}'),
  })
  await once(follow('stays'), 'message')

  expect((await call('DELETE', '/consumers/stays')).body).toMatchObject({ code: 'reference' })
  expect((await call('DELETE', '/consumers/..%2Fsources')).body).toMatchObject({ code: 'id' })
  await untilGone('passes.1')
  await client.consumer.remove('passes.1')
  expect((await call('DELETE', '/consumers/passes.1')).status).toBe(404)
  expect(await client.consumer.list()).toHaveLength(MAX_CONSUMERS - 1)
  await once(follow('one-too-many'), 'message')
})

test('a request without a WebSocket upgrade does not register a consumer', async () => {
  const { engine, call } = await startEngine(createTemporaryFolder())
  onTestFinished(() => engine.stop())
  expect(await call('GET', '/output?consumer=curl')).toMatchObject({
    status: 400,
    body: { code: 'syntax' },
  })
  expect((await call('GET', '/consumers')).body).toEqual([])
})
