import { readEnvironment } from '@eyrie/kit'
import { toLaunchCommand } from '@eyrie/kit/launcher/launch'
import { listNodeOptions } from '@eyrie/kit/node-options'
import { listWritableFolders } from '../supervisor/media-paths.ts'
import { createMediaPolicy } from '../supervisor/media-policy.ts'

// Prints the command that starts media within its boundaries, each word followed by a zero byte:
// node media-command.ts <parent>

/** Standard input, output and error, and the descriptor with the secrets. */
const INHERITED_DESCRIPTORS = 4

try {
  const environment = readEnvironment(process.env)
  const policy = createMediaPolicy(environment, {
    variables: process.env,
    writableFolders: listWritableFolders(environment),
  })
  const command = toLaunchCommand(
    [process.execPath, ...listNodeOptions('media'), 'services/media/main.ts'],
    policy,
    {
      inherit: INHERITED_DESCRIPTORS,
      reportToProgram: true,
      parentSignal: 'SIGTERM',
      parent: Number(process.argv[2]),
    },
  )
  process.stdout.write(command.map(word => `${word}\0`).join(''))
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
