import { z } from 'zod'

/**
 * Version of the element SDK (semantic versioning). Elements that are written for an earlier
 * version run with it unchanged if both have the same major version.
 */
export const SDK_VERSION = '1.2.0'

/**
 * The versions of the SDK with which a plugin runs: a major version such as 1, or a
 * range such as `^1.1.0`.
 */
export const sdkRange = z
  .union([
    z.int().min(1),
    z
      .string()
      .regex(
        /^\^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){0,2}$/,
        'must be a major version such as 1, or a range such as "^1.1.0"',
      ),
  ])
  .meta({
    description:
      'Versions of the element SDK with which the plugin runs: a major version such as 1, or a range such as "^1.1.0", which means this version or a later one with the same major version',
  })
export type SdkRange = z.infer<typeof sdkRange>

/**
 * Returns why a plugin for these versions of the SDK does not run with `version`;
 * undefined if it does.
 */
export function checkSdkRange(range: SdkRange, version = SDK_VERSION): string | undefined {
  const required = String(range).replace('^', '').split('.').map(Number)
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  const [requiredMajor = 0, requiredMinor = 0, requiredPatch = 0] = required
  const isOtherMajor = requiredMajor !== major
  const isNewer = requiredMinor > minor || (requiredMinor === minor && requiredPatch > patch)
  if (!isOtherMajor && !isNewer) return undefined

  const problem = `it is written for version ${range} of the element SDK; this engine has ${version}`
  return requiredMajor < major
    ? `${problem}: install a newer version of the plugin`
    : `${problem}: update Eyrie, or install an older version of the plugin`
}
