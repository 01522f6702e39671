import { createClient } from '@eyrie/client'
import { listen } from '@eyrie/kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startEngine } from '../../../test/fixtures/engine/engine.ts'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

/** Starts an engine without media. The command then reports why a pipeline cannot be watched. */
async function setUp() {
  const { engine } = await startEngine(createTemporaryFolder(), { EYRIE_ENGINE_TOKENS: 'secret' })
  const server = await listen(engine, '127.0.0.1', 0)
  onTestFinished(async () => {
    await server.close()
    await engine.stop()
  })
  const url = `http://127.0.0.1:${server.port}`
  const run = (line: string) =>
    runEyrieCommand(line.split(' '), {
      data: '/nowhere',
      environment: { EYRIE_ENGINE_URL: url, EYRIE_TOKEN: 'secret' },
    })
  return { client: createClient({ url, token: 'secret' }), run }
}

describe('eyrie lines propose', () => {
  it('names the problem of a pipeline that cannot be watched', async () => {
    const { client, run } = await setUp()
    expect(await run('lines propose 7')).toMatchObject({ code: 1, err: expect.stringMatching(/7/) })

    const { id } = await client.pipeline.create({ elements: [{ name: 'object-tracking' }] })
    expect(await run(`lines propose ${id}`)).toEqual({
      code: 1,
      out: '',
      err: `eyrie: pipeline ${id} is idle: no source is connected\n`,
    })
    expect((await run(`lines propose ${id} --apply`)).err).toBe(
      `eyrie: pipeline ${id} has no element line-crossing: add it to the pipeline, or omit --apply\n`,
    )
  })

  it.each([
    ['lines propose', /the pipeline is missing/],
    [
      'lines propose street',
      /street is not the id of a pipeline: eyrie status lists all pipelines/,
    ],
    ['lines propose 1 --seconds 0', /--seconds 0 should be a whole number of at least 1/],
    ['lines propose 1 --seconds 999999', /--seconds 999999 should be at most 86400/],
  ])('exits with 2 for "%s"', async (line, reason) => {
    const result = await runEyrieCommand(line.split(' '), { data: '/nowhere' })
    expect(result).toMatchObject({ code: 2, out: '', err: expect.stringMatching(reason) })
  })
})
