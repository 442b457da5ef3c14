from kanopy.cli import main

main()
