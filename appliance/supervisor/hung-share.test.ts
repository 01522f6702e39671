import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readEnvironment } from '@eyrie/kit'
import { expect, it, onTestFinished } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { SERVICE_UNITS } from './supervisor.ts'

const PROGRAM = `
  import { open, readFile } from 'node:fs/promises'
  for (let count = 0; count < 16; count++) void open('share')
  console.log(await readFile('other', 'utf8'))
`

it.each(['media', 'engine'])(
  'lets %s read other files while sixteen files of a network share hang',
  async service => {
    const folder = createTemporaryFolder()
    // Opening a pipe without a writer takes as long as a file of a network share that hangs.
    execFileSync('mkfifo', [join(folder, 'share')])
    writeFileSync(join(folder, 'other'), 'content')
    const unit = SERVICE_UNITS.find(({ name }) => name === service)
    const program = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      cwd: folder,
      env: unit?.additional?.(readEnvironment({ EYRIE_DATA: folder })),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void program.kill('SIGKILL'))
    const [output] = await once(program.stdout, 'data')
    expect(String(output)).toBe('content\n')
  },
)
