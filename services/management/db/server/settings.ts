import type { Cluster } from './cluster.ts'

/** What the server is started with: for a small box that does other things, too. */
export function serverSettings({ hba, ident }: Cluster): Readonly<Record<string, string>> {
  return {
    hba_file: hba,
    ident_file: ident,
    // No TCP. The socket lies in the data folder, which nobody else may enter.
    listen_addresses: '',
    unix_socket_directories: '.',
    unix_socket_permissions: '0700',
    max_connections: '40',
    shared_buffers: '96MB',
    work_mem: '8MB',
    maintenance_work_mem: '64MB',
    effective_cache_size: '512MB',
    // Nobody replicates: less is written, and what is kept is bounded.
    wal_level: 'minimal',
    max_wal_senders: '0',
    min_wal_size: '32MB',
    max_wal_size: '256MB',
    // Queries are short: neither compiling nor processes of their own pay.
    jit: 'off',
    max_parallel_workers_per_gather: '0',
    io_method: 'sync',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Statements and rows hold what no log may hold.
    log_line_prefix: '',
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    log_autovacuum_min_duration: '-1',
    update_process_title: 'off',
  }
}
