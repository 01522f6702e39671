import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

/** An installed Debian package for which a newer version is available. */
export interface OutdatedPackage {
  name: string
  /** The installed version. */
  installed: string
  /** The newest version that can be installed. */
  candidate: string
}

/** A script of the setup that contains the list `parser_packages`. */
const PACKAGE_LISTS = resolve(import.meta.dirname, '../../../appliance/setup/packages.sh')

// biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query replaces the names of fields.
const STATUS_FORMAT = '${db:Status-Status} ${Package}\n'

/**
 * Returns the installed Debian packages that parse video of cameras and are outdated. Needs no
 * network: the system updates its lists of available packages by itself. Returns nothing on a
 * system without Debian's package management.
 */
export async function findOutdatedPackages(
  environment?: NodeJS.ProcessEnv,
): Promise<OutdatedPackage[]> {
  const patterns = parseParserPackages(await readFile(PACKAGE_LISTS, 'utf8').catch(() => ''))
  const names = await listInstalledPackages(patterns, environment)
  if (names.length === 0) return []

  const packages = parsePolicy(await readOutput('apt-cache', ['policy', ...names], environment))
  const outdated: OutdatedPackage[] = []
  for (const installed of packages) {
    if (await isOutdated(installed)) outdated.push(installed)
  }
  return outdated
}

/** Returns the names of the installed packages that match one of the patterns. */
async function listInstalledPackages(
  patterns: readonly string[],
  environment: NodeJS.ProcessEnv | undefined,
): Promise<string[]> {
  const output = await readOutput(
    'dpkg-query',
    ['-W', '-f', STATUS_FORMAT, ...patterns],
    environment,
  )
  return Array.from(output.matchAll(/^installed (.+)$/gm), ([, name = '']) => name)
}

/**
 * Returns the output of a command, even if the command fails: dpkg-query fails if a pattern
 * matches nothing, after it has listed the packages of the other patterns. Returns an empty text
 * if there is no such command.
 */
async function readOutput(
  command: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv | undefined,
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, args, {
      env: environment,
      encoding: 'utf8',
    })
    return stdout
  } catch (error) {
    return (error as { stdout?: string }).stdout ?? ''
  }
}

async function isOutdated({ installed, candidate }: OutdatedPackage): Promise<boolean> {
  if (installed === candidate) return false
  try {
    await promisify(execFile)('dpkg', ['--compare-versions', installed, 'lt', candidate])
    return true
  } catch {
    // The command fails if the installed version is newer.
    return false
  }
}

/** Returns the patterns of the list `parser_packages` in `packages.sh`. */
function parseParserPackages(script: string): string[] {
  const [, list = ''] = /^parser_packages=\(\n([^)]*)\)/m.exec(script) ?? []
  return Array.from(list.matchAll(/'([^']+)'/g), ([, pattern = '']) => pattern)
}

/**
 * Parses the output of `apt-cache policy`: the name of each package, followed by indented lines
 * with its two versions.
 */
function parsePolicy(output: string): OutdatedPackage[] {
  const packages = output.matchAll(/^(\S+):\n {2}\S+: (\S+)\n {2}\S+: (\S+)$/gm)
  return Array.from(packages, ([, name = '', installed = '', candidate = '']) => ({
    name,
    installed,
    candidate,
  }))
}
