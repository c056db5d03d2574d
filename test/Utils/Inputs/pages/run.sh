echo "a"  # What is printed.
sed "/^# What these need/d"
