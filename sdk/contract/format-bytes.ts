const BYTES_PER_MB = 1e6
const BYTES_PER_GB = 1e9

/**
 * Formats a size for people: `35.2 MB`, `1.1 GB`. The units are decimal, as on disks and in file
 * managers. Fields of the API contain bytes.
 */
export function formatBytes(bytes: number): string {
  const megabytes = (bytes / BYTES_PER_MB).toFixed(1)
  // A size that would be rounded to 1000.0 MB is shown as 1.0 GB.
  return Number(megabytes) < 1000 ? `${megabytes} MB` : `${(bytes / BYTES_PER_GB).toFixed(1)} GB`
}
