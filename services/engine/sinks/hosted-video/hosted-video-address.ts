import { hostedStreamName } from '@eyrie/contract/media'
import { syntaxError } from '@eyrie/contract/parse'

/**
 * Checks the address of a sink that serves its channels as live video streams, annotated with their
 * results. Throws `EyrieError` (`syntax`) at `path` unless the address is `stream://<name>`. The
 * name must not contain `--`, which precedes the channel id in the names of further streams.
 */
export function checkHostedAddress(address: string, path: string): void {
  const name = parseHostedAddress(address)
  const isValid = hostedStreamName.safeParse(name).success && !name.includes('--')
  if (!isValid) {
    throw syntaxError(
      path,
      'a sink of type hosted_video has an address such as stream://entrance. The name starts with a letter, contains letters, digits, _ and single -, and has at most 64 characters',
    )
  }
}

/** Returns the name in `stream://<name>`; an empty string if the address has another form. */
export function parseHostedAddress(address: string): string {
  return /^stream:\/\/([^/?#]+)$/.exec(address)?.[1] ?? ''
}
