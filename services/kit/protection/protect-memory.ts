import { createRequire } from 'node:module'

/** The functions of the addon. */
interface Protection {
  protect(): boolean
}

/**
 * Closes the memory and the environment of this process to other processes of its user, and to core
 * files. Returns the reason if that is not possible. Programs that it starts are not protected.
 */
export function protectMemory(): string | undefined {
  try {
    const { protect }: Protection = createRequire(import.meta.url)('./build/protection.node')
    return protect() ? undefined : 'the kernel refuses it'
  } catch (error) {
    return `${(error as Error).message}: "make setup" builds the addon`
  }
}
