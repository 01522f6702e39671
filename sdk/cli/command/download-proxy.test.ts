import { describe, expect, it } from 'vitest'
import { startForwardProxy } from '../../../test/fixtures/network/forward-proxy.ts'
import { startTcpServer } from '../../../test/fixtures/network/tcp-server.ts'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

const addModel = (environment: Record<string, string>) =>
  runEyrieCommand(['model', 'add', 'yolox-nano'], { data: createTemporaryFolder(), environment })

describe('the proxy of the machine', () => {
  it('leads to the authors of a published model', async () => {
    // It does not speak TLS: the download fails, wherever the test runs.
    const authors = await startTcpServer(socket => socket.destroy())
    const proxy = await startForwardProxy(authors.port)
    expect(await addModel({ https_proxy: proxy.url })).toMatchObject({
      code: 1,
      err: expect.stringContaining('github.com cannot be reached ('),
    })
    expect(proxy.requested).toEqual(['github.com:443'])
  })

  it('is named if it cannot be reached', async () => {
    const { err } = await addModel({ https_proxy: 'http://127.0.0.1:9' })
    expect(err).toContain('github.com cannot be reached (connect ECONNREFUSED 127.0.0.1:9). ')
  })

  it('is rejected with the remedy if its address is not valid', async () => {
    expect(await addModel({ https_proxy: 'proxy:3128' })).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /http_proxy or https_proxy is not valid \(.*\): write an address such as http:\/\/proxy:3128/,
      ),
    })
  })
})
