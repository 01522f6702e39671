import { discoverCamerasCommand } from './camera/discover.ts'
import { testCameraCommand } from './camera/test.ts'
import { channelsCommand } from './engine/channels.ts'
import { deployCommand } from './engine/deploy.ts'
import { statusCommand } from './engine/status.ts'
import { watchCommand } from './engine/watch.ts'
import { keygenCommand } from './license/keygen.ts'
import { showCommand } from './license/show.ts'
import { signCommand } from './license/sign.ts'
import { logsCommand } from './logs/logs.ts'
import { addCommand } from './model/add.ts'
import { listCommand } from './model/list.ts'
import { removeCommand } from './model/remove.ts'
import manifest from './package.json' with { type: 'json' }
import { addPluginCommand } from './plugin/add.ts'
import { listPluginsCommand } from './plugin/list.ts'
import { packCommand } from './plugin/pack.ts'
import { removePluginCommand } from './plugin/remove.ts'
import { usePluginCommand } from './plugin/use.ts'
import { supportCommand } from './support/support.ts'
import { styled, type Terminal, UsageError } from './terminal.ts'
import { backupCommand } from './upkeep/backup.ts'
import { checkCommand } from './upkeep/check.ts'
import { restoreCommand } from './upkeep/restore.ts'
import { resetUserCommand } from './user/reset.ts'

/** A command: what it is called, what may follow, and what it does. */
export interface Command {
  usage: string
  about: string
  /** Throws `UsageError` where the arguments are at fault. */
  run(args: string[], terminal: Terminal): Promise<void>
}

const commands: Readonly<Record<string, Command>> = {
  status: statusCommand,
  channels: channelsCommand,
  watch: watchCommand,
  deploy: deployCommand,
  logs: logsCommand,
  support: supportCommand,
  check: checkCommand,
  backup: backupCommand,
  restore: restoreCommand,
  'camera test': testCameraCommand,
  'camera discover': discoverCamerasCommand,
  'license keygen': keygenCommand,
  'license sign': signCommand,
  'license show': showCommand,
  'model add': addCommand,
  'model list': listCommand,
  'model remove': removeCommand,
  'plugin pack': packCommand,
  'plugin add': addPluginCommand,
  'plugin list': listPluginsCommand,
  'plugin use': usePluginCommand,
  'plugin remove': removePluginCommand,
  'user reset': resetUserCommand,
}

/** Runs a command line and answers its exit code: 0 done, 1 failed, 2 not understood. */
export async function eyrie(args: string[], terminal: Terminal): Promise<0 | 1 | 2> {
  if (args.length === 0 || args.includes('--help') || args.includes('-h')) {
    terminal.out.write(help())
    return args.length === 0 ? 2 : 0
  }
  if (args[0] === '--version') {
    terminal.out.write(`eyrie ${manifest.version}\n`)
    return 0
  }
  const names = [args.slice(0, 2).join(' '), args[0]!]
  const name = names.find(words => Object.hasOwn(commands, words))
  const command = name && commands[name]
  if (!command) return fail(terminal, `there is no command ${names[0]}: eyrie --help lists all`, 2)
  try {
    await command.run(args.slice(name.split(' ').length), terminal)
    return 0
  } catch (error) {
    const { message } = error as Error
    if (!(error instanceof UsageError)) return fail(terminal, message, 1)
    return fail(terminal, `${message}\nusage: eyrie ${name} ${command.usage}`, 2)
  }
}

function fail(terminal: Terminal, message: string, code: 1 | 2): 1 | 2 {
  terminal.err.write(`${styled(terminal.err, 'red', 'eyrie:')} ${message}\n`)
  return code
}

function help(): string {
  const lines = Object.entries(commands).map(
    ([name, { usage, about }]) => `  eyrie ${name} ${usage}\n      ${about.replaceAll('\n', '\n      ')}\n`,
  )
  const version = '  eyrie --version\n      Says which version of Eyrie this is.\n'
  return `Commands:\n${[...lines, version].join('\n')}\n${surroundings}`
}

const surroundings = `Models, logs and the engine's token are in $EYRIE_DATA (default ./.eyrie). The engine is reached at --url, else
EYRIE_ENGINE_URL, else http://127.0.0.1:8100 or the port in EYRIE_ENGINE_PORT, with --token, else EYRIE_TOKEN, else the
token in $EYRIE_DATA/secrets.
`
