"""
Entry point of the sandboxed processes of the engine:

    start.py serve     runs an element
    start.py inspect   checks that the elements of a plugin can be loaded
"""

import os
import sys

SDK = __file__.rpartition('/eyrie_element/')[0]
MIN_VERSION = (3, 11)
MESSAGE_SOCKET = 3


def main() -> None:
    command = sys.argv[1]
    if sys.version_info < MIN_VERSION:
        refuse(
            command,
            'this machine has Python %d.%d, but elements need %d.%d or later'
            % (*sys.version_info[:2], *MIN_VERSION),
        )

    # The engine runs Python with -I, so that it reads neither the environment nor settings of
    # users, and with -S, so that the libraries of the machine can be added here, after the files of
    # the plugin.
    import site

    # An element may use one core and a half. Libraries for mathematics would start a thread for
    # each core of the machine.
    os.environ.update(OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1')
    sys.path.insert(0, SDK)
    machine_paths = [path for path in site.getsitepackages() if path not in sys.path]

    if command == 'inspect':
        from eyrie_element.process.inspect import inspect

        inspect(machine_paths)
    else:
        from eyrie_element.process.serve import serve

        serve(machine_paths)


def refuse(command: str, problem: str) -> None:
    """Reports the problem in the way that the engine expects of the command, and exits."""
    if command == 'inspect':
        os.write(MESSAGE_SOCKET, b'{"problem": "%s"}\n' % problem.encode())
        while os.read(MESSAGE_SOCKET, 4096):
            pass
    sys.exit(problem)


main()
