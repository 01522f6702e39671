import { readdir, readFile, statfs } from 'node:fs/promises'
import { arch, cpus, freemem, loadavg, release, totalmem, uptime } from 'node:os'

/** What the machine is and how much of it is free; sizes in bytes, times in seconds. */
export async function machineFacts(data: string) {
  const [{ model = 'unknown' } = {}] = cpus()
  return {
    system: /^PRETTY_NAME="?([^"\n]*)/m.exec(await readFile('/etc/os-release', 'utf8').catch(() => ''))?.[1],
    kernel: release(),
    arch: arch(),
    node: process.version,
    cpu: { model, count: cpus().length, load: loadavg() },
    memory: { total: totalmem(), free: freemem() },
    space: { [data]: await spaceOf(data), '/dev/shm': await spaceOf('/dev/shm') },
    graphics: await readdir('/dev/dri').catch(() => []),
    uptime: uptime(),
  }
}

async function spaceOf(folder: string) {
  try {
    const { bsize, blocks, bavail } = await statfs(folder)
    return { total: bsize * blocks, free: bsize * bavail }
  } catch {
    return undefined
  }
}
