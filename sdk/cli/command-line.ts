import { discoverCamerasCommand, testCameraCommand } from './camera/camera-commands.ts'
import { type Command, UsageError } from './command/command.ts'
import { styled, type Terminal } from './command/terminal.ts'
import { channelsCommand } from './engine/channels-command.ts'
import { deployCommand } from './engine/deploy-command.ts'
import { statusCommand } from './engine/status-command.ts'
import { watchCommand } from './engine/watch-command.ts'
import { licenseKeygenCommand, licenseShowCommand, licenseSignCommand } from './license/license-commands.ts'
import { logsCommand } from './logs/logs-command.ts'
import { backupCommand, checkCommand, restoreCommand } from './maintenance/maintenance-commands.ts'
import { addModelCommand } from './model/add-model.ts'
import { listModelsCommand, removeModelCommand } from './model/model-commands.ts'
import manifest from './package.json' with { type: 'json' }
import {
  addPluginCommand,
  listPluginsCommand,
  packPluginCommand,
  removePluginCommand,
  usePluginCommand,
} from './plugin/plugin-commands.ts'
import { supportCommand } from './support/support-command.ts'
import { resetPasswordCommand } from './user/reset-password.ts'

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
  'license keygen': licenseKeygenCommand,
  'license sign': licenseSignCommand,
  'license show': licenseShowCommand,
  'model add': addModelCommand,
  'model list': listModelsCommand,
  'model remove': removeModelCommand,
  'plugin pack': packPluginCommand,
  'plugin add': addPluginCommand,
  'plugin list': listPluginsCommand,
  'plugin use': usePluginCommand,
  'plugin remove': removePluginCommand,
  'user reset': resetPasswordCommand,
}

/** Runs a command line and returns its exit code: 0 on success, 1 on failure, 2 for an invalid command line. */
export async function runCommandLine(args: string[], terminal: Terminal): Promise<0 | 1 | 2> {
  if (args.length === 0 || args.includes('--help') || args.includes('-h')) {
    terminal.out.write(formatHelp())
    return args.length === 0 ? 2 : 0
  }
  if (args[0] === '--version') {
    terminal.out.write(`eyrie ${manifest.version}\n`)
    return 0
  }
  const candidates = [args.slice(0, 2).join(' '), args[0]!]
  const name = candidates.find(candidate => Object.hasOwn(commands, candidate))
  const command = name && commands[name]
  if (!command) return fail(terminal, `unknown command ${candidates[0]}: eyrie --help lists all commands`, 2)
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

function formatHelp(): string {
  const lines = Object.entries(commands).map(
    ([name, { usage, about }]) => `  eyrie ${name} ${usage}\n      ${about.replaceAll('\n', '\n      ')}\n`,
  )
  const version = '  eyrie --version\n      Prints the version of Eyrie.\n'
  return `Commands:\n${[...lines, version].join('\n')}\n${environmentHelp}`
}

const environmentHelp = `Models, logs and tokens are read from $EYRIE_DATA (default ./.eyrie). Commands connect to the engine at --url,
or EYRIE_ENGINE_URL, or http://127.0.0.1:8100 (or the port in EYRIE_ENGINE_PORT), and authenticate with --token, or
EYRIE_TOKEN, or the token in $EYRIE_DATA/secrets.
`
