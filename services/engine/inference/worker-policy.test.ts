import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { launchNode } from '@eyrie/kit/launcher/launch'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startTcpServer } from '../../../test/fixtures/network/tcp-server.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import type { Attack } from './hostile-worker.fixture.ts'
import { createWorkerPolicy } from './worker-policy.ts'

/** Runs the attacks with the boundaries of an inference worker. Returns the outcome of each. */
async function attackFromWorker(
  attack: Attack,
  folders: string[],
): Promise<Record<string, string>> {
  const module = resolve(import.meta.dirname, 'hostile-worker.fixture.ts')
  const { child } = launchNode([module], createWorkerPolicy(folders), { output: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const answer = once(child, 'message')
  child.send(attack)
  return (await answer)[0]
}

describe('inference worker', () => {
  it('reads its models, and reaches nothing else when a model is hostile', async () => {
    const data = createTemporaryFolder()
    const models = join(data, 'models')
    mkdirSync(models)
    const model = join(models, 'model.onnx')
    const secret = join(data, 'configuration.json')
    for (const path of [model, secret]) writeFileSync(path, 'content')
    const { port, connections } = await startTcpServer()
    const victim = spawn('/bin/sleep', ['600'])
    onTestFinished(() => void victim.kill('SIGKILL'))

    const outcome = await attackFromWorker({ model, secret, port, victim: victim.pid! }, [models])
    expect(outcome).toEqual({
      model: 'done',
      'replaces the model': 'EACCES',
      'reads secrets of the engine': 'EACCES',
      'reads accounts': 'EACCES',
      'reads the environment of the engine': 'EACCES',
      'lists its working directory': 'EACCES',
      'writes a file': 'EACCES',
      'opens a connection': 'EPERM',
      'kills a process': 'EPERM',
      'starts a program': 'EPERM',
      environment: '',
    })
    expect(connections).toEqual([])
    expect(victim.exitCode ?? victim.signalCode).toBe(null)
  })

  it('reads a model that is a link to a folder elsewhere', async () => {
    const models = createTemporaryFolder()
    const elsewhere = createTemporaryFolder()
    const secret = join(createTemporaryFolder(), 'secret')
    for (const path of [join(elsewhere, 'model.onnx'), secret]) writeFileSync(path, 'content')
    symlinkSync(elsewhere, join(models, 'linked'))
    symlinkSync('/nowhere', join(models, 'broken'))

    const model = join(models, 'linked/model.onnx')
    const outcome = await attackFromWorker({ model, secret, port: 9, victim: process.pid }, [
      models,
    ])
    expect(outcome).toMatchObject({ model: 'done', 'reads secrets of the engine': 'EACCES' })
  })
})
