import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

/** A package that is installed in an older version than the archive of the machine contains. */
export interface OutdatedPackage {
  name: string
  installed: string
  candidate: string
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query replaces the names of fields.
const FORMAT = '${db:Status-Status} ${Package}\n'

/** The lists of packages of the setup. */
const PACKAGE_LISTS = resolve(import.meta.dirname, '../../../appliance/setup/packages.sh')

/**
 * Returns the outdated ones of the installed Debian packages that parse video of cameras. Reads only what is known on this machine,
 * without a network: the system updates its package lists. Returns nothing on a system without Debian's package management.
 */
export async function findOutdatedPackages(environment?: NodeJS.ProcessEnv): Promise<OutdatedPackage[]> {
  const run = async (command: string, args: readonly string[]): Promise<string> => {
    const options = environment && { env: environment }
    const { stdout } = await promisify(execFile)(command, args, options).catch(error => error)
    return String(stdout ?? '')
  }

  const patterns = parseParserPackages(await readFile(PACKAGE_LISTS, 'utf8').catch(() => ''))
  // Fails if a pattern matches nothing, after it has listed the others.
  const list = await run('dpkg-query', ['-W', '-f', FORMAT, ...patterns])
  const installed = Array.from(list.matchAll(/^installed (.+)$/gm), ([, name = '']) => name)
  if (installed.length === 0) return []

  const packages = parsePolicy(await run('apt-cache', ['policy', ...installed]))
  const isOlder = async ({ installed, candidate }: OutdatedPackage) =>
    promisify(execFile)('dpkg', ['--compare-versions', installed, 'lt', candidate]).then(
      () => true,
      () => false,
    )
  const differing = packages.filter(({ installed, candidate }) => installed !== candidate)
  const older = await Promise.all(differing.map(isOlder))
  return differing.filter((_, index) => older[index])
}

/** Returns the patterns of the list `parser_packages` in `packages.sh`. */
function parseParserPackages(script: string): string[] {
  const [, list = ''] = /^parser_packages=\(\n([^)]*)\)/m.exec(script) ?? []
  return Array.from(list.matchAll(/'([^']+)'/g), ([, pattern = '']) => pattern)
}

/** Parses the output of `apt-cache policy`, in which each package begins with a line that is not indented. */
function parsePolicy(output: string): OutdatedPackage[] {
  const packages = output.matchAll(/^(\S+):\n {2}\S+: (\S+)\n {2}\S+: (\S+)$/gm)
  return Array.from(packages, ([, name = '', installed = '', candidate = '']) => ({
    name,
    installed,
    candidate,
  }))
}
