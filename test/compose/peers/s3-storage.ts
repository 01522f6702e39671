import type { Stack } from '../stack.ts'
import { startPeer } from './peer.ts'

const NAME = 'storage'
const PORT = 9000
const BUCKET = 'backups'
const FOLDER = '/tmp/storage'
const SUFFIX = '._S3rver_object'
/** The only key of s3rver. */
const KEY = 'S3RVER'

/** An S3-compatible storage with a bucket. */
export interface S3Storage {
  /** Settings with which backups are stored in it. */
  settings: object
  /** Returns the key and the first bytes of each object. */
  listObjects(startBytes: number): Promise<{ key: string; start: string }[]>
}

export async function startS3Storage(stack: Stack): Promise<S3Storage> {
  const program = '/peer/node_modules/s3rver/bin/s3rver.js'
  const container = await startPeer(stack, {
    name: NAME,
    port: PORT,
    command: [
      ...['node', program, '--directory', FOLDER, '--address', '0.0.0.0', '--port', String(PORT)],
      ...['--no-vhost-buckets', '--configure-bucket', BUCKET],
    ],
  })

  async function run(...command: string[]): Promise<string> {
    const { exitCode, output } = await container.exec(command)
    if (exitCode !== 0) throw new Error(`${command.join(' ')} failed: ${output}`)
    return output
  }

  return {
    settings: {
      ...{
        backup_target: 's3',
        backup_s3_endpoint: `http://${NAME}:${PORT}`,
        backup_s3_bucket: BUCKET,
      },
      ...{ backup_s3_access_key: KEY, backup_s3_secret_key: KEY },
    },
    async listObjects(startBytes) {
      const folder = `${FOLDER}/${BUCKET}`
      const files = (await run('find', folder, '-name', `*${SUFFIX}`)).split('\n').filter(Boolean)
      return Promise.all(
        files.map(async file => ({
          key: file.slice(folder.length + 1, -SUFFIX.length),
          start: await run('head', '--bytes', String(startBytes), file),
        })),
      )
    },
  }
}
