import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

/** An installed Debian package. */
interface PackageVersions {
  name: string
  /** The installed version. */
  installed: string
  /** The newest version that can be installed. */
  candidate: string
}

/** A script of the setup, with lists of packages. */
const PACKAGE_SCRIPT = resolve(import.meta.dirname, '../../../appliance/setup/packages.sh')

// biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query replaces the names of fields.
const STATUS_FORMAT = '${db:Status-Status} ${Package}\n'
/** A line in this format about an installed package. */
const INSTALLED_LINE = /^installed (.+)$/gm
/** The list `parser_packages` in the script, with a quoted pattern in each line. */
const PARSER_PACKAGES = /^parser_packages=\(\n([^)]*)\)/m
const QUOTED_PATTERN = /'([^']+)'/g
/**
 * An entry of `apt-cache policy`: a line with the name of a package, and two indented lines with
 * the installed and the candidate version. Their labels depend on the language of the system.
 */
const POLICY_ENTRY = /^(\S+):\n {2}\S+: (\S+)\n {2}\S+: (\S+)$/gm

/**
 * Returns the installed Debian packages that parse video of cameras and are outdated. Needs no
 * network: the system updates its lists of available packages by itself. Returns nothing on a
 * system without Debian's package management.
 */
export async function findOutdatedPackages(
  environment?: NodeJS.ProcessEnv,
): Promise<PackageVersions[]> {
  const patterns = parseParserPackages(await readFile(PACKAGE_SCRIPT, 'utf8').catch(() => ''))
  const names = await listInstalledPackages(patterns, environment)
  if (names.length === 0) return []

  const packages = parsePolicy(await readOutput('apt-cache', ['policy', ...names], environment))
  const outdated: PackageVersions[] = []
  for (const versions of packages) {
    if (await isOutdated(versions)) outdated.push(versions)
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
  return Array.from(output.matchAll(INSTALLED_LINE), ([, name = '']) => name)
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

async function isOutdated({ installed, candidate }: PackageVersions): Promise<boolean> {
  if (installed === candidate) return false
  try {
    await promisify(execFile)('dpkg', ['--compare-versions', installed, 'lt', candidate])
    return true
  } catch {
    // The command fails if the installed version is newer.
    return false
  }
}

/** Returns the patterns of the packages that parse video. */
function parseParserPackages(script: string): string[] {
  const [, list = ''] = PARSER_PACKAGES.exec(script) ?? []
  return Array.from(list.matchAll(QUOTED_PATTERN), ([, pattern = '']) => pattern)
}

function parsePolicy(output: string): PackageVersions[] {
  return Array.from(
    output.matchAll(POLICY_ENTRY),
    ([, name = '', installed = '', candidate = '']) => ({
      name,
      installed,
      candidate,
    }),
  )
}
