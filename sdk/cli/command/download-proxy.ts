import { setGlobalProxyFromEnv } from 'node:http'

/** The proxy of the machine, for downloads from the internet. */

/**
 * Downloads through the proxy in the variables `http_proxy` and `https_proxy`, except from hosts in
 * `no_proxy`. Rejects with an `Error` if the address of the proxy is not valid.
 *
 * Only `fetch` in `download` uses the proxy. Other requests of commands are for services of Eyrie:
 * a proxy would receive their tokens, and does not reach a service on this machine.
 */
export async function downloadThroughProxy<Result>(
  environment: Readonly<Record<string, string | undefined>>,
  download: () => Promise<Result>,
): Promise<Result> {
  const restore = setProxy(environment)
  try {
    return await download()
  } finally {
    restore()
  }
}

function setProxy(environment: Readonly<Record<string, string | undefined>>): () => void {
  try {
    return setGlobalProxyFromEnv({ ...environment })
  } catch (cause) {
    throw new Error(
      `http_proxy or https_proxy is not valid (${(cause as Error).message}): write an address such as http://proxy:3128`,
      { cause },
    )
  }
}
