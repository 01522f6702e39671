import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startTcpServer } from '../../../test/fixtures/network/tcp-server.ts'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { requestOperator } from './operator-request.ts'

/** Returns a data folder with a token for the management service. */
function createDataFolder(): string {
  const data = createTemporaryFolder()
  mkdirSync(join(data, 'secrets'))
  writeFileSync(join(data, 'secrets/operator-token'), 'token')
  return data
}

/** Runs a command against a server that is not the management service. */
async function runAgainst(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const environment = { EYRIE_MANAGEMENT_URL: url }
  const result = await runEyrieCommand(['jobs'], { data: createDataFolder(), environment })
  return { url, result }
}

describe('a request to the management service', () => {
  it.each([200, 404])('fails if another server answers with status %i', async status => {
    const { url, result } = await runAgainst((_, response) => {
      response.writeHead(status).end('<html>')
    })
    const reason = `${url} answered ${status}: is it the address of the management service?`
    expect(result).toEqual({ code: 1, out: '', err: `eyrie: ${reason}\n` })
  })

  it('fails if the connection is closed in the middle of the response', async () => {
    const { url, result } = await runAgainst((_, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('{"jobs":', () => response.destroy())
    })
    const reason = `the management service cannot be reached at ${url} (`
    expect(result).toMatchObject({ code: 1, out: '', err: expect.stringContaining(reason) })
  })

  it('fails with the cause, such as the HTTPS of a server that is asked without', async () => {
    // As a server with TLS does that receives a request in clear text.
    const { port } = await startTcpServer(socket => socket.destroy())
    const { err } = await runEyrieCommand(['jobs'], {
      data: createDataFolder(),
      environment: { EYRIE_MANAGEMENT_URL: `http://127.0.0.1:${port}` },
    })
    expect(err).toMatch(
      /\((other side closed|.*ECONNRESET)\): start the appliance, or set EYRIE_MANAGEMENT_URL/,
    )
  })

  it('fails if the service accepts it and does not answer in time', async () => {
    const { port } = await startTcpServer()
    const url = `http://127.0.0.1:${port}`
    const terminal = {
      data: createDataFolder(),
      environment: { EYRIE_MANAGEMENT_URL: url },
      out: process.stdout,
      err: process.stderr,
    }
    await expect(requestOperator('/operator/jobs', terminal, {}, 100)).rejects.toThrow(
      `the management service at ${url} has not answered within 0.1 s: see eyrie logs --service management`,
    )
  })

  it('fails with the reason why the token cannot be read', async () => {
    const data = createTemporaryFolder()
    writeFileSync(join(data, 'secrets'), 'not a folder')
    const reason = `${data}/secrets/operator-token cannot be read (ENOTDIR): run the command as root, or as the user of the appliance`
    expect(await runEyrieCommand(['jobs'], { data })).toEqual({
      code: 1,
      out: '',
      err: `eyrie: ${reason}\n`,
    })
  })
})
