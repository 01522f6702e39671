import { discoverCamerasCommand, testCameraCommand } from './camera/camera-commands.ts'
import { type Command, UsageError } from './command/command.ts'
import { createSafeTerminal, styled, type Terminal } from './command/terminal.ts'
import { channelsCommand } from './engine/channels-command.ts'
import { deployCommand } from './engine/deploy-command.ts'
import { statusCommand } from './engine/status-command.ts'
import { watchCommand } from './engine/watch-command.ts'
import { jobsCommand, runJobCommand } from './jobs/jobs-command.ts'
import {
  licenseKeygenCommand,
  licenseShowCommand,
  licenseSignCommand,
} from './license/license-commands.ts'
import { proposeLinesCommand } from './lines/lines-command.ts'
import { logsCommand } from './logs/logs-command.ts'
import {
  backupCommand,
  checkCommand,
  restoreCommand,
  storeBackupCommand,
} from './maintenance/maintenance-commands.ts'
import { addModelCommand } from './model/add-model.ts'
import { listModelsCommand, removeModelCommand } from './model/model-commands.ts'
import {
  modelSwitchesCommand,
  shadowModelCommand,
  upgradeModelCommand,
  useModelCommand,
} from './model/model-upgrade-commands.ts'
import manifest from './package.json' with { type: 'json' }
import {
  createJoinTokenCommand,
  deleteJoinTokenCommand,
  listJoinTokensCommand,
} from './placement/join-token-commands.ts'
import { applyPlacementCommand, placementCommand } from './placement/placement-command.ts'
import {
  sitePlacementCommand,
  sourcePlacementCommand,
} from './placement/placement-rules-commands.ts'
import {
  addPluginCommand,
  listPluginsCommand,
  packPluginCommand,
  releasePluginCommand,
  removePluginCommand,
  showPluginCommand,
  usePluginCommand,
} from './plugin/plugin-commands.ts'
import {
  pluginKeygenCommand,
  signPluginCommand,
  verifyPluginCommand,
} from './plugin/signature-commands.ts'
import {
  allowPluginCommand,
  disallowPluginCommand,
  distrustPublisherCommand,
  listPublishersCommand,
  trustPublisherCommand,
} from './plugin/trust-commands.ts'
import {
  pluginSwitchesCommand,
  shadowPluginCommand,
  upgradePluginCommand,
} from './plugin/upgrade-commands.ts'
import { benchPluginCommand } from './plugin-bench/bench-command.ts'
import { devPluginCommand } from './plugin-dev/dev-command.ts'
import {
  createPluginCommand,
  generatePluginCommand,
  testPluginCommand,
} from './plugin-project/author-commands.ts'
import { installPluginCommand } from './plugin-registry/install-plugin-command.ts'
import {
  mirrorPluginsCommand,
  publishPluginCommand,
  searchPluginsCommand,
} from './plugin-registry/registry-commands.ts'
import { supportCommand } from './support/support-command.ts'
import { openConsoleCommand } from './user/open-console.ts'
import { resetPasswordCommand } from './user/reset-password.ts'

const ENVIRONMENT_HELP = `Models, logs and tokens are read from $EYRIE_DATA (default ./.eyrie). Commands connect to the engine at --url,
or EYRIE_ENGINE_URL, or http://127.0.0.1:8100 (or the port in EYRIE_ENGINE_PORT), and authenticate with --token, or
EYRIE_TOKEN, or the token in $EYRIE_DATA/secrets, which is not sent to another machine that --url names.
`

/**
 * The command line `eyrie`. It finds the command that the first arguments name, and runs it with
 * the other arguments.
 */

/** All commands by name, in the order in which the help lists them. */
const commands: Readonly<Record<string, Command>> = {
  // The running appliance
  open: openConsoleCommand,
  status: statusCommand,
  channels: channelsCommand,
  watch: watchCommand,
  deploy: deployCommand,
  'lines propose': proposeLinesCommand,
  logs: logsCommand,
  support: supportCommand,

  // Maintenance
  check: checkCommand,
  backup: backupCommand,
  'backup store': storeBackupCommand,
  restore: restoreCommand,
  jobs: jobsCommand,
  'jobs run': runJobCommand,

  // Which engine analyses which source
  placement: placementCommand,
  'placement apply': applyPlacementCommand,
  'placement site': sitePlacementCommand,
  'placement source': sourcePlacementCommand,
  'join-token create': createJoinTokenCommand,
  'join-token list': listJoinTokensCommand,
  'join-token delete': deleteJoinTokenCommand,

  // Cameras and licenses
  'camera test': testCameraCommand,
  'camera discover': discoverCamerasCommand,
  'license keygen': licenseKeygenCommand,
  'license sign': licenseSignCommand,
  'license show': licenseShowCommand,

  // Models
  'model add': addModelCommand,
  'model list': listModelsCommand,
  'model remove': removeModelCommand,
  'model use': useModelCommand,
  'model upgrade': upgradeModelCommand,
  'model shadow': shadowModelCommand,
  'model switches': modelSwitchesCommand,

  // Plugins: development
  'plugin create': createPluginCommand,
  'plugin generate': generatePluginCommand,
  'plugin test': testPluginCommand,
  'plugin dev': devPluginCommand,
  'plugin bench': benchPluginCommand,
  'plugin pack': packPluginCommand,

  // Plugins: installed versions
  'plugin add': addPluginCommand,
  'plugin list': listPluginsCommand,
  'plugin show': showPluginCommand,
  'plugin use': usePluginCommand,
  'plugin upgrade': upgradePluginCommand,
  'plugin shadow': shadowPluginCommand,
  'plugin switches': pluginSwitchesCommand,
  'plugin release': releasePluginCommand,
  'plugin remove': removePluginCommand,

  // Plugins: signatures and publishers
  'plugin keygen': pluginKeygenCommand,
  'plugin sign': signPluginCommand,
  'plugin verify': verifyPluginCommand,
  'plugin trust': trustPublisherCommand,
  'plugin distrust': distrustPublisherCommand,
  'plugin publishers': listPublishersCommand,
  'plugin allow': allowPluginCommand,
  'plugin disallow': disallowPluginCommand,

  // Plugins: registries
  'plugin publish': publishPluginCommand,
  'plugin search': searchPluginsCommand,
  'plugin install': installPluginCommand,
  'plugin mirror': mirrorPluginsCommand,

  // Users
  'user reset': resetPasswordCommand,
}

/**
 * Runs a command line and returns its exit code: 0 on success, 1 on failure, 2 for an
 * invalid command line.
 */
export async function runCommandLine(args: string[], unsafeTerminal: Terminal): Promise<0 | 1 | 2> {
  const terminal = createSafeTerminal(unsafeTerminal)
  if (args.length === 0 || args.includes('--help') || args.includes('-h')) {
    terminal.out.write(formatHelp(findCommandNames(args)))
    return args.length === 0 ? 2 : 0
  }
  if (args[0] === '--version') {
    terminal.out.write(`eyrie ${manifest.version}\n`)
    return 0
  }

  const name = findCommandName(args)
  if (name === undefined) {
    const words = args.slice(0, 2).join(' ')
    const group = findCommandNames(args).length > 0 ? args[0] : undefined
    const remedy = group
      ? `eyrie ${group} --help lists all commands that begin with ${group}`
      : 'eyrie --help lists all commands'
    return fail(terminal, `unknown command ${words}: ${remedy}`, 2)
  }

  const command = commands[name]!
  const nameWordCount = name.split(' ').length
  try {
    await command.run(args.slice(nameWordCount), terminal)
    return 0
  } catch (error) {
    const { message } = error as Error
    if (error instanceof UsageError) {
      return fail(terminal, `${message}\nusage: eyrie ${name} ${command.usage}`.trimEnd(), 2)
    }
    return fail(terminal, message, 1)
  }
}

/** Returns the command at the start of the arguments. Its name has one or two words. */
function findCommandName(args: string[]): string | undefined {
  const candidates = [args.slice(0, 2).join(' '), args[0]!]
  return candidates.find(candidate => Object.hasOwn(commands, candidate))
}

/**
 * Returns the names of the commands that begin with the first two arguments, or else with the first
 * one: `plugin add` for `plugin add --help`, and all commands of plugins for `plugin --help`.
 */
function findCommandNames(args: string[]): string[] {
  const prefixes = [args.slice(0, 2).join(' '), args[0]]
  const matches = prefixes.map(prefix =>
    Object.keys(commands).filter(name => `${name} `.startsWith(`${prefix} `)),
  )
  return matches.find(names => names.length > 0) ?? []
}

/** Prints an error message and returns the exit code. */
function fail(terminal: Terminal, message: string, exitCode: 1 | 2): 1 | 2 {
  terminal.err.write(`${styled(terminal.err, 'red', 'eyrie:')} ${message}\n`)
  return exitCode
}

/** Formats the help for the commands with these names, or for all of them if there are none. */
function formatHelp(names: string[]): string {
  const isComplete = names.length === 0
  const entries = (isComplete ? Object.keys(commands) : names).map(name => {
    const { usage, about } = commands[name]!
    return formatHelpEntry(`${name} ${usage}`.trimEnd(), about)
  })
  if (isComplete) entries.push(formatHelpEntry('--version', 'Prints the version of Eyrie.'))
  return `Commands:\n${entries.join('\n')}\n${ENVIRONMENT_HELP}`
}

/** Formats the usage of a command, and its description in indented lines below. */
function formatHelpEntry(usage: string, about: string): string {
  const descriptionLines = about.split('\n').map(line => `      ${line}\n`)
  return `  eyrie ${usage}\n${descriptionLines.join('')}`
}
